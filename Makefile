# The two commands: everything from nothing on Debian 12/13 and Ubuntu 24.04.
#   make demo    builds Quern and runs the examples
#   make test    builds Quern and runs all tests
#   make wheel   builds dist/quern-*.whl
#   make bench   runs the benchmarks beside the newest Numba (docs/benchmarks.md)
#   make bench-loops  runs loops of many fields beside C and Numba (benchmarks/loops)
#   make peers   runs Numba's and numba-cuda's own tests, answered by Quern (tests/peers)
#   make mutate  changes the source in 300 places, one at a time, and counts which changes the tests see
#   make fuzz    compares random loop nests, nested functions and generators with CPython: make fuzz SEED=1000 PROGRAMS=5000
#   make fuzz-kernels  compares random kernels with CPython: on the cpu device, as PTX and on two AMD chips: make fuzz-kernels SEED=1000 PROGRAMS=5000
#   make fuzz-cache  reads damaged entries of the disk cache and damaged object files: make fuzz-cache SEED=5 ROUNDS=1000000
PYTHON ?= python3

.PHONY: demo test wheel bench bench-loops fuzz fuzz-kernels fuzz-cache peers mutate format clean
demo:
	@PYTHON=$(PYTHON) tests/tools/make.sh demo
test:
	@PYTHON=$(PYTHON) tests/tools/make.sh test
wheel:
	@PYTHON=$(PYTHON) tests/tools/make.sh wheel
bench:
	@PYTHON=$(PYTHON) tests/tools/make.sh bench
bench-loops:
	@PYTHON=$(PYTHON) tests/tools/make.sh bench-loops $(if $(ONLY),--only $(ONLY))
fuzz:
	@PYTHON=$(PYTHON) tests/tools/make.sh fuzz --seed $(or $(SEED),0) --programs $(or $(PROGRAMS),1000)
fuzz-kernels:
	@PYTHON=$(PYTHON) tests/tools/make.sh fuzz-kernels --seed $(or $(SEED),0) --programs $(or $(PROGRAMS),1000)
fuzz-cache:
	@PYTHON=$(PYTHON) tests/tools/make.sh fuzz-cache $(or $(SEED),1000) $(or $(ROUNDS),1000000)
peers:
	@PYTHON=$(PYTHON) tests/tools/make.sh peers $(if $(REWRITE),--rewrite) $(if $(DRIVER),--driver $(DRIVER)) $(if $(ONLY),--only $(ONLY))
mutate:
	@PYTHON=$(PYTHON) tests/tools/make.sh mutate --count $(or $(COUNT),300) $(if $(ONLY),--only $(ONLY))
format:
	@PYTHON=$(PYTHON) tests/tools/make.sh format
clean:
	rm -rf build dist .venv
