"""The cases of sdp.py: projects as data, and how each side's folder is made.

A case: name, spec (keys of spark-pipeline.yml beside name and storage), files
(a path -> text), sources (name -> DDL of JSON files that are read as a
stream), databases (made before on Spark's side), steps. A step: args, files
(replace; null removes), in (source -> rows), drop (tables)."""

import json
import os
import re

import yaml

SPARK_SOURCE = """
@dp.temporary_view
def {name}():
    return spark.readStream.format("json").schema({ddl!r}).load({path!r})
"""


def columns(ddl):
    return [c.split()[0] for c in re.split(r",\s*(?![^<(]*[>)])", ddl)]


def put(path, text):
    if text is None:
        if os.path.exists(path):
            os.remove(path)
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)


def write_common(case, i, dir):
    """The files of step i; the text @DIR@ stands for the folder."""
    step = case["steps"][i]
    for files in ([case.get("files") or {}] if i == 0 else []) + [step.get("files") or {}]:
        for name, text in files.items():
            put(f"{dir}/{name}", text and text.replace("@DIR@", dir))
    for name in case.get("sources") or {}:
        os.makedirs(f"{dir}/in/{name}", exist_ok=True)
    for name, rows in (step.get("in") or {}).items():
        names = columns(case["sources"][name])
        put(f"{dir}/in/{name}/b{i:04d}.json", "".join(json.dumps(dict(zip(names, r))) + "\n" for r in rows))


def document(case, i, dir):
    spec = {"name": "case", "storage": f"file://{dir}/state", "libraries": [{"glob": {"include": "t/**"}}]}
    spec |= case.get("spec") or {}
    return spec | (case["steps"][i].get("spec") or {})


def write_spark(case, i, dir):
    write_common(case, i, dir)
    spec = document(case, i, dir)
    if case.get("sources"):
        text = "from pyspark import pipelines as dp\n"
        for name, ddl in case["sources"].items():
            text += SPARK_SOURCE.format(name=name, ddl=ddl, path=f"{dir}/in/{name}")
        put(f"{dir}/sources.py", text)
        spec["libraries"] = spec["libraries"] + [{"glob": {"include": "sources.py"}}]
    put(f"{dir}/spark-pipeline.yml", case.get("document") or yaml.safe_dump(spec, sort_keys=False))


def write_ours(case, i, dir):
    """Spark's own form, or with sources ours with the same SQL files."""
    write_common(case, i, dir)
    spec = document(case, i, dir)
    name = "spark-pipeline.yml"
    if case.get("sources"):
        name = "pipeline.yml"
        spec["sources"] = [{"name": n, "format": "json", "path": f"in/{n}", "schema": ddl} for n, ddl in case["sources"].items()]
    put(f"{dir}/{name}", case.get("document") or yaml.safe_dump(spec, sort_keys=False))
    return name
