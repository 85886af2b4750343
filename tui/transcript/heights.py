"""Row counts of many messages: maps a row to its message and back in O(log n)."""

from collections.abc import Iterable


class Heights:
    """Mutable heights with prefix sums (a Fenwick tree)."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights = list(heights)
        self._tree = self._heights.copy()
        for index in range(1, len(self._tree) + 1):
            above = index + (index & -index)
            if above <= len(self._tree):
                self._tree[above - 1] += self._tree[index - 1]

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    def __setitem__(self, index: int, height: int) -> None:
        change = height - self._heights[index]
        self._heights[index] = height
        position = index + 1
        while change and position <= len(self._tree):
            self._tree[position - 1] += change
            position += position & -position

    @property
    def total(self) -> int:
        """The sum of all heights."""
        return self.top(len(self._heights))

    def append(self, height: int) -> None:
        """Append an entry."""
        position = len(self._heights) + 1
        begin = position - (position & -position)
        self._tree.append(height + self.top(position - 1) - self.top(begin))
        self._heights.append(height)

    def top(self, index: int) -> int:
        """The first row of the entry: the sum of all heights before it."""
        rows = 0
        while index:
            rows += self._tree[index - 1]
            index -= index & -index
        return rows

    def find(self, row: int) -> int:
        """The index of the entry that contains the row; the last one for rows past the end."""
        position, step = 0, 1 << len(self._tree).bit_length()
        while step:
            if position + step <= len(self._tree) and self._tree[position + step - 1] <= row:
                position += step
                row -= self._tree[position - 1]
            step >>= 1
        return min(position, len(self._tree) - 1)
