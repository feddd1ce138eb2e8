"""What a playbook's settings become for a model other than the one that they were chosen for."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from autoresearch.catalogue import CatalogueFactor
from autoresearch.planner.notes import RECIPE, SIZE_UNKNOWN
from autoresearch.playbook import Playbook
from autoresearch.playbook.schema import Recipe
from swarm.config.base import JsonValue
from swarm.models.size import parameters

#: The recipe of a model whose size is not known before it is fetched.
UNKNOWN = "unknown"
_TUNED = "learning_rate"


@dataclass(frozen=True)
class ModelRecipe:
    """The recipe of a study's model. It changes nothing (`applies` is False) for the model that the
    playbook itself names. `said` is what it changes, `limits` what findings hold for."""

    recipe: Recipe
    applies: bool
    said: tuple[str, ...]
    limits: tuple[str, ...]

    def factor(self, known: CatalogueFactor) -> CatalogueFactor:
        """The factor with what its levels stand for with this model."""
        values = self.recipe.values.get(known.name) if self.applies else None
        return replace(known, values={**known.values, **values}) if values else known

    def levels(self, name: str) -> tuple[JsonValue, ...] | None:
        """What is usually compared of a factor with this model, the control first; None for what
        the playbook or the catalogue says."""
        return self.recipe.levels.get(name) if self.applies else None


def recipe_for(playbook: Playbook, model: str) -> ModelRecipe:
    """The recipe of the smallest class that a model falls into, by its number of parameters."""
    size = parameters(model)
    name = UNKNOWN if size is None else _class(playbook.recipes, size)
    recipe = playbook.recipes.get(name, Recipe())
    applies = model != playbook.model and bool(recipe.train)
    sentence = SIZE_UNKNOWN if size is None else RECIPE
    chosen = ", ".join(f"{path} {value}" for path, value in recipe.train.items())
    said = sentence.format(model=model, size=_spoken(size), name=name, chosen=chosen)
    limits = tuple(note.format(model=model, size=_spoken(size)) for note in recipe.notes)
    return ModelRecipe(recipe, applies, (said,) if applies else (), limits)


def under_recipe(playbook: Playbook, found: ModelRecipe, *, own_rows: bool) -> Playbook:
    """The playbook with the recipe's settings in place of its own."""
    if not found.applies:
        return playbook
    recipe, tuning = found.recipe, playbook.tuning
    if tuning is not None and tuning.factor == _TUNED and recipe.tuning is not None:
        low, high = recipe.tuning
        tuning = tuning.model_copy(update={"low": low, "high": high})
    added = {**recipe.train, **(recipe.own_rows if own_rows else {})}
    return playbook.model_copy(update={"train": {**playbook.train, **added}, "tuning": tuning})


def _class(recipes: Mapping[str, Recipe], size: int) -> str:
    fitting = [
        (recipe.below or float("inf"), name)
        for name, recipe in recipes.items()
        if name != UNKNOWN and size < (recipe.below or float("inf"))
    ]
    return min(fitting)[1] if fitting else UNKNOWN


def _spoken(size: int | None) -> str:
    """`0.8 M`, `135 M`, `1.5 B`."""
    if size is None:
        return "an unknown number of"
    for unit, scale in (("B", 1e9), ("M", 1e6)):
        if size >= 0.1 * scale and (size >= scale or unit == "M"):
            amount = size / scale
            return f"{amount:.0f} {unit}" if amount >= 10 else f"{amount:.1f} {unit}"
    return str(size)
