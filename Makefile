# The front door.  `make help` lists what there is.  Meson and ninja do the work, in build/.

BUILD ?= build
SANITIZED ?= build-sanitize
CLANG ?= build-clang
COVERAGE ?= build-coverage
JOBS ?= $(shell nproc)
# tools/twice: failed tests of the suites of real processes are run once more
TWICE ?=
MESON_TEST = meson test -C $(1) --no-suite e2e --num-processes $(JOBS) --print-errorlogs

.DEFAULT_GOAL := all
.PHONY: all programs run stop test test-unit test-sanitize test-api test-api-real test-operator test-deploy test-helm test-kubernetes test-node test-first-light test-e2e test-faq test-streams \
	test-durability test-hostile test-release test-upgrade test-readme test-mutations test-expect \
	test-agent test-native test-steady test-truth sim soak test-valgrind fuzz fuzz-listeners bench lint tidy tidy-changed clang coverage fmt crds rbac install images clean help

# SLURM=PREFIX: an agent for the Slurm there, too, which the suites of real clusters then run on
AGENT_FOR = [ -z "$(SLURM)" ] || tools/agent-for $(BUILD) "$(SLURM)"

all: $(BUILD)/build.ninja ## Build everything into build/
	@$(AGENT_FOR)
	@ninja -C $(BUILD) -j $(JOBS)
	@ln -sf src/cli/slurmkeeper $(BUILD)/slurmkeeper

$(BUILD)/build.ninja:
	@tools/packages build
	@meson setup $(BUILD) --werror

$(SANITIZED)/build.ninja:
	@tools/packages build
	@meson setup $(SANITIZED) -Db_sanitize=address,undefined -Db_lundef=false

programs: $(BUILD)/build.ninja ## Build what a cluster needs, without the tests
	@$(AGENT_FOR)
	@ninja -C $(BUILD) -j $(JOBS) programs
	@ln -sf src/cli/slurmkeeper $(BUILD)/slurmkeeper

run: programs ## Bring a Slurm cluster of three nodes up on this machine (ACCOUNTING=1: with slurmdbd); needs root
	@tools/packages run $(if $(ACCOUNTING),accounting)
	@$(BUILD)/slurmkeeper up $(if $(ACCOUNTING),--accounting)
	@echo
	@echo "Try:"
	@echo "  eval \"\$$($(BUILD)/slurmkeeper env)\""
	@echo "  srun -N3 hostname"
	@echo "  kubectl get controllers,nodesets,pods"

stop: ## Take it down again; what was declared stays
	@$(BUILD)/slurmkeeper down

test: ## What a change must pass: units, sanitizers, API conformance, a real Slurm cluster
	@tools/packages build test
	@$(MAKE) --no-print-directory test-unit test-sanitize test-api test-operator test-deploy \
		test-first-light test-durability
	@echo "make test: all passed"

test-unit: all ## Unit tests and fuzz corpora
	@$(call MESON_TEST,$(BUILD))

test-sanitize: $(SANITIZED)/build.ninja ## The same under ASan and UBSan
	@ninja -C $(SANITIZED) -j $(JOBS)
	@ln -sf src/cli/slurmkeeper $(SANITIZED)/slurmkeeper
	@$(call MESON_TEST,$(SANITIZED)) --timeout-multiplier 4

test-streams: all ## exec, cp and port-forward of real kubectls against the HTTP layer alone
	@tools/packages test
	@tools/kubectl-debian $(BUILD)/tools
	@meson test -C $(BUILD) --suite e2e --print-errorlogs

test-node: all ## Pods on this machine: life, volumes, network, survival; needs root
	@tools/packages run test
	@tools/kubectl-debian $(BUILD)/tools
	@$(TWICE) tests/e2e/node/run

test-api: all ## The API conformance suite, against the embedded server or KUBECONFIG's
	@tools/packages test
	@tools/kubectl-debian $(BUILD)/tools
	@$(TWICE) tests/api/run

test-api-real: all ## The same on a real kube-apiserver, and ours beside it; builds Kubernetes once, with Go
	@tools/packages test
	@tools/kubectl-debian $(BUILD)/tools
	@KUBECTL=$$(tools/kubernetes build kubectl)/kubectl SLURMKEEPER=$(abspath $(BUILD))/slurmkeeper \
		tools/kubernetes run tests/api/run

test-operator: all ## The operator beside an embedded API server
	@tools/packages test
	@$(TWICE) tests/e2e/operator/run

test-deploy: all ## What deploy/ renders to, held against the code's rights and the pod security standards
	@tools/packages test
	@tests/deploy/run

test-helm: all ## The charts, with a real helm: rendering, and install to uninstall on the embedded API; builds helm once, with Go
	@tools/packages test
	@tests/helm/run

test-kubernetes: all images ## All of it on a real Kubernetes, started and stopped here; builds Kubernetes once, with Go; needs root
	@tools/packages run test kubernetes
	@BUILD=$(abspath $(BUILD)) tests/kubernetes/run

test-agent: all ## The agent's libslurm children against a real slurmctld; needs root
	@tools/packages test run
	@$(TWICE) tests/agent/run

test-native: all ## Declared changes, live in real Slurm clusters: edits, bad input, faults, scale; needs root
	@tools/packages run test
	@$(TWICE) tests/e2e/native/run

test-truth: all ## Two minutes of accidents in a real cluster: all who tell of it agree with slurmctld; needs root
	@tools/packages run test
	@SEED=$(or $(SEED),$$(date +%s)) TRUTH_SECONDS=$(or $(SECONDS),120) tests/e2e/native/run test_truth.py -s

test-first-light: all ## A real cluster comes up and runs jobs; the short one of test-e2e; needs root
	@tools/packages run test
	@tools/kubectl-debian $(BUILD)/tools
	@$(TWICE) tests/e2e/slurm/run test_jobs.py -k "first_job or three or sbatch"

test-e2e: all ## Real Slurm clusters on this machine, as a user has them; needs root
	@tools/packages run test logins accounting
	@tools/kubectl-debian $(BUILD)/tools
	@$(TWICE) tests/e2e/slurm/run

test-faq: all ## What users ask, each question with the command of its answer, on a real cluster; needs root
	@tools/packages run test logins accounting
	@$(TWICE) tests/e2e/faq/run

test-release: ## Another Debian (SUITE=trixie or forky), as a machine of its own: RUN (test-first-light test-agent), SLURM=PREFIX; needs root
	@test -n "$(SUITE)" || { echo "make test-release: name a suite, such as SUITE=trixie" >&2; exit 2; }
	@tools/release run $(SUITE) tools/packages build run test
	@NETWORK=own tools/release run $(SUITE) make $(if $(TWICE),TWICE=$(TWICE)) $(or $(RUN),test-first-light test-agent)

test-readme: programs ## Every command of the README, as it stands there; needs root
	@tools/packages run test logins
	@tests/readme/run

test-upgrade: ## A cluster with jobs goes from Slurm 24.11 to 26.05, in a root of Debian testing; needs root
	@tools/release run forky tools/packages build run test
	@tools/release run forky tests/upgrade/run prepare
	@NETWORK=own tools/release run forky tests/upgrade/run

test-durability: all ## kill -9 in a loop under load: no acknowledged write is lost
	@tools/packages test
	@$(TWICE) tests/durability/run

test-hostile: all ## Hostile peers on loopback: floods, slow heads, large bodies, damaged requests, endless lists
	@tools/packages test
	@$(TWICE) tests/hostile/run

test-mutations: all ## Every known key of Slurm's files with good, odd and bad values: MINUTES (60), KEYS, SEED, JOBS; needs root (long)
	@tools/packages test run
	@tests/mutations/run

test-expect: programs ## Slurm's own expect tests, on a plain Slurm and on a cluster of ours: GROUPS="1 17", TESTS, SECONDS_EACH (120); needs root (long)
	@tools/packages run expect
	@GROUPS_OF_TESTS="$(GROUPS)" TESTS="$(TESTS)" $(if $(SECONDS_EACH),SECONDS_EACH=$(SECONDS_EACH)) tests/expect/run

test-valgrind: all ## The API server under valgrind while the conformance suite runs (long)
	@tools/packages test
	@dpkg -s valgrind >/dev/null 2>&1 || apt-get install -y valgrind
	@SLURMKEEPER_UNDER_VALGRIND=1 tests/api/run

fuzz: ## Run every fuzz target for FUZZ_SECONDS (60) with libFuzzer
	@tools/packages build lint
	@tests/fuzz/run $${FUZZ_SECONDS:-60}

fuzz-listeners: $(SANITIZED)/build.ninja ## Mutated traffic at the real programs under ASan: MINUTES (10), REQUESTS, SEED; needs root
	@tools/packages build run test
	@ninja -C $(SANITIZED) -j $(JOBS) programs
	@BUILD=$(SANITIZED) tests/fuzz/listeners/run

test-steady: all ## LEGS (test) TIMES (20) times in a row, with two busy loops beside; long
	@MAKE="$(MAKE)" tools/steady $(or $(TIMES),20) $(or $(LEGS),test)

sim: all ## A NodeSet's life in simulated time, from SEED (1) on, SEEDS (100) of STEPS (20000) each: does a job die?
	@$(BUILD)/tests/sim/sim seed=$(or $(SEED),1) seeds=$(or $(SEEDS),100) steps=$(or $(STEPS),20000) $(SIM)

soak: all ## The same with new seeds for SECONDS (600)
	@$(BUILD)/tests/sim/sim seed=$(or $(SEED),$$(date +%s)) seeds=1000000000 steps=$(or $(STEPS),20000) seconds=$(or $(SECONDS),600) $(SIM)

bench: all ## Measure, as ratios in one run: first job, live edits, operator, agent, API server; needs root
	@tools/packages test bench
	@tests/bench/run

lint: all ## Formatting, cppcheck, shellcheck, spelling, the rule of layers
	@tools/packages lint
	@tools/lint $(BUILD)

tidy: all ## clang-tidy over all sources: thorough, and slow
	@tools/packages lint
	@tools/lint $(BUILD) tidy

tidy-changed: $(BUILD)/build.ninja ## clang-tidy over what differs from BASE (origin/main, else 20 commits ago)
	@tools/packages lint
	@tools/lint $(BUILD) tidy-changed $(BASE)

# Compiling is all: no second set of programs is to be tested, so nothing is optimized.
clang: ## Everything, tests too, compiled by clang without a warning
	@tools/packages build lint
	@[ -e $(CLANG)/build.ninja ] || CC=clang-19 meson setup $(CLANG) --werror -Doptimization=0
	@ninja -C $(CLANG) -j $(JOBS)

$(COVERAGE)/build.ninja:
	@tools/packages build
	@meson setup $(COVERAGE) -Db_coverage=true -Doptimization=0

coverage: $(COVERAGE)/build.ninja ## Lines and branches that unit tests reach, and that whole programs do; needs root
	@tools/packages build test run coverage
	@ninja -C $(COVERAGE) -j $(JOBS)
	@tools/coverage $(COVERAGE)

fmt: ## Format the sources
	@tools/packages lint
	@git ls-files '*.c' '*.h' | xargs clang-format-19 -i

crds: all ## Print the definitions of our kinds into deploy/crds
	@$(BUILD)/slurmkeeper crds --directory deploy/crds
	@cd deploy && { sed '/^- crds/d' kustomization.yaml; ls crds/* | sed 's/^/- /'; } >list.new && mv list.new kustomization.yaml

rbac: all ## Print what the operator needs to be allowed into deploy/rbac
	@$(BUILD)/slurmkeeper rbac >deploy/rbac/operator.yaml
	@$(BUILD)/slurmkeeper rbac --namespace slurm --watch slurm >deploy/namespaced/rbac.yaml

images: programs ## OCI archives for Kubernetes, into build/images: the operator, this Debian's Slurm, slurmdbd with MariaDB, logins; needs root
	@tools/packages images
	@tools/images --build $(BUILD) operator slurm accounting login

install: all ## Install below DESTDIR/prefix (meson's prefix, /usr/local)
	@meson install -C $(BUILD) --no-rebuild

clean: ## Remove what was built
	@rm -rf $(BUILD) $(SANITIZED) $(CLANG) $(COVERAGE) build-fuzz

help: ## This list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 18
