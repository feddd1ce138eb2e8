"""Data sets of the Hugging Face hub, as files in the hub's cache on this machine."""

from pathlib import Path

from swarm.errors import BadTask
from swarm.tasks.data_files import TRAIN, RawRows, read
from swarm.tasks.refs import HUB

#: Where the hub keeps a Parquet copy of data sets that lie there in another form.
_CONVERTED = "refs/convert/parquet"


def read_hub(name: str, split: str = "") -> RawRows:
    """The rows of a split of `owner/name`, or of `owner/name/config`. What the cache holds is used
    where the hub does not answer. Raises BadTask."""
    owner, _, rest = name.partition("/")
    repository, _, config = rest.partition("/")
    for revision in (None, _CONVERTED):
        found = _fetched(f"{owner}/{repository}", config, split or TRAIN, revision)
        if found is not None:
            rows = read(found, split)
            return RawRows(rows.rows, rows.digest, HUB + name)
    where = f" in {config!r}" if config else ""
    raise BadTask(
        f"{HUB}{name} has no Parquet or JSONL files of a split {split or TRAIN!r}{where}",
        f"name its configuration as {HUB}owner/name/config and task.split, or save it to a folder",
    )


def _fetched(repository: str, config: str, split: str, revision: str | None) -> Path | None:
    """The folder of the snapshot that holds the split's files; None where there are none."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        HFValidationError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    places = [f"{config}/"] if config else ["", "data/", "default/"]
    kinds = ("parquet", "jsonl")
    patterns = [
        f"{place}{form}.{kind}"
        for place in places
        for form in (split, f"{split}-*", f"{split}/*")
        for kind in kinds
    ]
    try:
        snapshot = snapshot_download(
            repository, repo_type="dataset", revision=revision, allow_patterns=patterns
        )
    except RevisionNotFoundError:
        return None
    except (RepositoryNotFoundError, HFValidationError):
        raise BadTask(
            f"{HUB}{repository} is not a data set on the hub that you may read",
            "check the spelling and your access, or give a folder",
        ) from None
    except LocalEntryNotFoundError:
        if revision is not None:  # the cache holds another revision, without this split
            return None
        raise BadTask(
            f"{HUB}{repository} is not in the hub's cache, and the hub does not answer",
            "fetch it where there is a network, or give files or a folder (save_to_disk)",
        ) from None
    folder = Path(snapshot)
    return next((folder / place for place in places if _any(folder / place, split)), None)


def _any(folder: Path, split: str) -> bool:
    forms = (f"{split}.*", f"{split}-*", f"{split}/*")
    return any(True for form in forms for _ in folder.glob(form))
