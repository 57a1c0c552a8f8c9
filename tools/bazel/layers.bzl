"""The layers of the tree: a package may depend on packages of lower layers only."""

LAYERS = {
    "gcap_tf": 0,
    "gcap_tf/shipped": 1,
    "gcap_tf/text": 1,
    "gcap_tf/layers": 1,
    "gcap_tf/losses": 2,
    "gcap_tf/data": 2,
    "gcap_tf/visuals": 6,
    "gcap_tf/data/stores": 3,
    "gcap_tf/data/scenes": 3,
    "gcap_tf/matchers": 3,
    "gcap_tf/captioners": 3,
    "gcap_tf/data/readers": 4,
    "gcap_tf/metrics": 4,
    "gcap_tf/decoding": 4,
    "gcap_tf/vision": 5,
    "gcap_tf/rewards": 5,
    "gcap_tf/data/prepared": 6,
    "gcap_tf/runs": 6,
    "gcap_tf/interop": 7,
    "gcap_tf/evaluation": 7,
    "gcap_tf/training": 8,
    "gcap_tf/recipes": 9,
    "export": 10,
    "serving": 11,
    "trainers": 12,
    "benchmarks": 13,
    "tests": 14,
}

# Files of gcap_tf itself that stand above everything but the programs (tools/build_files.py checks
# that they are the only ones): what `import gcap_tf` offers.
API = ["api", "answers"]
_BELOW_API = 10

# Packages that may not see a layer although they are above it.
_HIDDEN = {
    "gcap_tf/training": ["export", "serving"],
}

def visible_from(layer):
    """The packages that may depend on `layer`: itself, and those above it."""
    api = ["//gcap_tf:__pkg__"] if LAYERS[layer] <= _BELOW_API else []
    return api + [
        "//{}:__subpackages__".format(name)
        for name in LAYERS
        if name == layer or (
            LAYERS[name] > LAYERS[layer] and name not in _HIDDEN.get(layer, [])
        )
    ]
