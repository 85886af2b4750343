"""Names for new worktrees: two words that are easy to say, to type and to tell apart."""

import random
from collections.abc import Collection, Iterator
from itertools import chain, count, product
from typing import Final

_QUALITIES: Final = """
agile airy alert amber ample ancient apt arctic ashen autumn azure balmy bashful bold boreal
bouncy brave breezy bright brisk bronze calm candid careful chalky cheery chilly civil clear
clever cloudy coastal cobalt copper coral cosy crisp curious dainty dapper daring dawn deep deft
dewy dusky eager early earthy easy even fabled fair famous fancy fleet floral fluffy foggy fond
free fresh frosty gentle ginger glad gleaming golden good grand green handy happy hardy hearty
helpful hidden honest humble ivory jade jaunty jolly jovial keen kind late leafy level light
lively lofty loyal lucid lucky lunar mellow merry mild misty modest mossy neat nimble noble
northern olive open patient peachy pearly plucky plum polite prime proud quaint quick quiet
rapid rosy rugged russet rustic sandy scarlet serene shady sharp shiny silent silky silver sleek
sleepy smooth snowy snug solar spry stable starry steady sturdy subtle sunny swift tame tawny
tender thrifty tidal tidy tranquil trim trusty upbeat vivid warm wild willing windy wise witty
woolly young zesty
"""
# Small animals, birds and plants.
_CREATURES: Final = """
acorn adder alder anchovy aphid ash aspen aster auk avocet badger barley bat beech beetle birch
bittern bluebell bobcat bracken bramble briar bunting burdock buttercup buzzard catkin cedar
chaffinch chestnut chickadee cicada clover conker coot cormorant cowslip crab crane cricket
crocus crow curlew cypress daffodil daisy dipper dormouse dove dunlin dunnock earwig eel egret
eider elder elm ermine falcon fawn ferret fern fieldfare finch firefly flax foxglove frog gannet
gecko gentian goldfinch goose gorse grebe grouse gull hare harrier hawthorn hazel heather
hedgehog heron holly hoopoe ibis iris ivy jackdaw jay juniper kestrel kingfisher kite knapweed
lapwing larch lark lavender lemming lichen lilac lily limpet linden linnet lizard lynx mackerel
magpie mallow maple marigold marmot marten martin merlin minnow mole moorhen moss moth mouse
mussel myrtle newt nightjar nuthatch oak oriole osprey otter ouzel owl oyster pansy partridge
perch petrel pheasant pika pine pipit plover poplar poppy primrose puffin quail rabbit raven
redstart reed robin rook rowan sage salmon sanderling sandpiper sedge shrew shrike siskin
skylark snail snipe sorrel sparrow spruce squirrel starling stoat stork swallow swan sycamore
tansy teal tern thistle thrush thyme titmouse toad trout tulip turnstone vetch violet vole
wagtail walnut warbler weasel wheatear whimbrel whinchat wigeon willow wren yarrow yew
"""
_TRIES: Final = 100


def random_name(taken: Collection[str]) -> str:
    """A name such as `quiet-otter` that is not in `taken`, whatever the case of its letters."""
    used = {name.casefold() for name in taken}
    names = [f"{quality}-{creature}" for quality, creature in _pairs()]
    for _ in range(_TRIES):
        name = random.choice(names)
        if name not in used:
            return name
    numbered = (f"{name}-{number}" for number in count(2) for name in names)
    return next(name for name in chain(names, numbered) if name not in used)


def is_random_name(name: str) -> bool:
    """Whether `random_name` may have given this name."""
    quality, _, rest = name.partition("-")
    creature, _, number = rest.partition("-")
    return (
        quality in _QUALITIES.split()
        and creature in _CREATURES.split()
        and (number.isdecimal() or rest == creature)
    )


def _pairs() -> Iterator[tuple[str, str]]:
    return product(_QUALITIES.split(), _CREATURES.split())
