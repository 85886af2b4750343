"""Row counts of a long column of messages: from a row to its message and back in O(log n)."""

from collections.abc import Iterable


class Heights:
    """Heights that change one at a time, with their sums (a Fenwick tree)."""

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
        place = index + 1
        while change and place <= len(self._tree):
            self._tree[place - 1] += change
            place += place & -place

    @property
    def total(self) -> int:
        """All rows."""
        return self.top(len(self._heights))

    def append(self, height: int) -> None:
        """Add an entry at the end."""
        place = len(self._heights) + 1
        begin = place - (place & -place)
        self._tree.append(height + self.top(place - 1) - self.top(begin))
        self._heights.append(height)

    def top(self, index: int) -> int:
        """The first row of the entry: the sum of all heights before it."""
        rows = 0
        while index:
            rows += self._tree[index - 1]
            index -= index & -index
        return rows

    def find(self, row: int) -> int:
        """The entry that the row belongs to; the last one for rows past the end."""
        place, step = 0, 1 << len(self._tree).bit_length()
        while step:
            if place + step <= len(self._tree) and self._tree[place + step - 1] <= row:
                place += step
                row -= self._tree[place - 1]
            step >>= 1
        return min(place, len(self._tree) - 1)
