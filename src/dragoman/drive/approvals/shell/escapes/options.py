"""Options by which well-known programs run something else, write a file or work elsewhere.

Long options that :mod:`~dragoman.drive.approvals.shell.escapes.long_names` recognizes by their name need no
entry: this table is for short options and for long ones with unremarkable names. An entry that ends in ``/``
counts only if its value is a path outside the directory.
"""

from __future__ import annotations

import re
from typing import Final

from dragoman.drive.approvals.shell.programs import names

_GIT: Final = (
    "--output --ext-diff --textconv --open-files-in-pager --upload-pack --receive-pack --exec --extcmd --no-index"
    " --template --config --config-env --exec-path --git-dir --work-tree --separate-git-dir --output-directory --in-place"
    " --filters --contents --unsafe-paths --directory --export-marks --fsmonitor --web --stdin-paths --index-output --prefix"
    " --bundle-uri --reference --edit-description --tool --import-marks"
)
_PROPERTIES: Final = "-D --define --system-prop"
_GRADLE: Final = (
    "-I --init-script -b --build-file -c --settings-file -p --project-dir -g --gradle-user-home --include-build -M"
    " --project-cache-dir --write-locks --gradle-distribution-url --distribution-url"
)
_MAVEN: Final = "-f --file -s --settings --gs --global-settings -t --toolchains --gt --global-toolchains -l --log-file --emp --ep"
_C_COMPILERS: Final = (
    "-wrapper -B -fplugin -specs --specs -fuse-ld -Xlinker -Xclang -Xassembler -Xpreprocessor -iplugindir -dumpdir -dumpbase"
    " -o/ -MF/ -MJ/ -ivfsoverlay -vfsoverlay --ld-path"
    " -fpass-plugin -ccc-install-dir -mllvm -load --config -no-canonical-prefixes --sysroot"
)
_DOCKER: Final = (
    "-v --volume --mount --privileged -H --host --config --context -c --device --cap-add --security-opt --pid -o --runtime"
    " --conmon --allow --tlscacert --tlscert --tlskey"
)
_CURL: Final = (
    "-o -O --output --output-dir --remote-name --remote-name-all -K --config -T --upload-file -d --data --data-binary"
    " --data-ascii --data-raw --data-urlencode --json -F --form --remote-header-name -J -c --cookie-jar -b --cookie"
    " --dump-header -D --trace --trace-ascii --libcurl --create-dirs --hsts --alt-svc --etag-save --etag-compare --stderr"
    " --variable --engine --netrc-file --unix-socket --abstract-unix-socket -x --proxy --preproxy --socks5 --socks4 --doh-url"
    " -Q --quote --ssl-sessions --connect-to --resolve -E --cert --key --cacert --capath --crlfile --egd-file"
)
_WGET: Final = (
    "-O -o --output-document --output-file -a --append-output -e --execute --use-askpass --post-file --body-file --post-data"
    " --body-data -i --input-file -P --directory-prefix --config --save-cookies --load-cookies --hsts-file --rejected-log"
    " --ca-certificate --ca-directory --certificate --private-key"
)
_NODE: Final = (
    "-e --eval -p --print -r --require --import --loader --experimental-loader - --inspect --inspect-brk --env-file"
    " --env-file-if-exists --inspect-wait --openssl-config --snapshot-blob --experimental-config-file --diagnostic-dir"
    " --cpu-prof --heap-prof --redirect-warnings --report-dir --report-on-fatalerror --icu-data-dir --build-snapshot"
    " --test-reporter --test-reporter-destination --trace-event-file-pattern --experimental-sea-config --security-revert"
    " --heapsnapshot-signal --prof -C --run"
)
_NPM: Final = (
    "--prefix -C --script-shell --node-options --node-gyp --userconfig --globalconfig --call -c --git --editor --viewer"
    " --shell --browser --python --init-module --cache --registry --location --global -g --https-proxy --proxy --cafile"
)
_PIP: Final = (
    "--prefix --target -t --root --config-settings --global-option --build-option --install-option --index-url -i"
    " --extra-index-url -f --find-links --python --log --cache-dir --src --proxy --cert --client-cert --trusted-host --report"
    " -d --dest -w --wheel-dir --editor -C"
)
_JEST: Final = (
    "-c --config --rootDir --globalSetup --globalTeardown --setupFiles --setupFilesAfterEnv --testRunner --runner --reporters"
    " --transform --testEnvironment --env --resolver --testResultsProcessor --watchPlugins --snapshotSerializers --preset"
    " --projects --roots --filter --outputFile --coverageDirectory --cacheDirectory --testSequencer --dependencyExtractor"
    " --haste --modulePaths --moduleDirectories --prettierPath --moduleNameMapper"
)
_ESLINT: Final = (
    "--fix -c --config --rulesdir --resolve-plugins-relative-to -o --output-file -f --format --parser --plugin --cache-file"
    " --cache-location"
)
_GHC: Final = "-e -F -pgmF -pgma -pgmP -pgmL -pgmc -pgml -pgmlo -pgmlc -fplugin --frontend -o -outputdir --interactive --run"
_BAZEL: Final = (
    "--run_under --workspace_status_command --bazelrc --output_base --output_user_root --credential_helper"
    " --override_repository --override_module --host_jvm_args --server_javabase --shell_executable --package_path"
    " --action_env --host_action_env --test_env --repo_env --extra_toolchains --host_platform --platforms --install_base"
    " --aspects --distdir --repository_cache --disk_cache --build_event_binary_file --explain"
)
_ANSIBLE: Final = (
    "-e --extra-vars -c --connection -M --module-path -i --inventory --vault-password-file --vault-id --ssh-common-args"
    " --ssh-extra-args --sftp-extra-args --scp-extra-args --become-method --playbook-dir"
)
_DENO: Final = (
    "--eval --allow-all -A --allow-run --allow-ffi --allow-sys --allow-import --config -c --import-map --preload --v8-flags"
    " --env-file --location --cert --lock --seed -o --output --inspect --inspect-brk --inspect-wait"
)
_TAR: Final = (
    "-I --use-compress-program --to-command --checkpoint-action -F --info-script --new-volume-script --rsh-command"
    " --rmt-command -C --directory -P --absolute-names --files-from -T --one-top-level -g --listed-incremental --index-file"
    " --transform --xform --volno-file --exclude-from -X"
)
_RSYNC: Final = (
    "-e --rsh --rsync-path -M --remote-option --config --daemon --write-batch --only-write-batch --read-batch --log-file"
    " --temp-dir -T --partial-dir --backup-dir --files-from --include-from --exclude-from --password-file --early-input"
    " --dparam --filter -f --copy-dest --link-dest --compare-dest"
)
_GPG: Final = (
    "--agent-program --dirmngr-program --photo-viewer --pinentry-program --exec-path --homedir -o --output --options"
    " --export-secret-keys --export-secret-subkeys --passphrase-file --passphrase --log-file --status-file --attribute-file"
    " --keyserver --recv-keys --load-extension --trustdb-name --keyring --secret-keyring --logger-file --debug-set-iobuf-size"
    " --export-secret-ssh-key --delete-secret-keys --delete-secret-and-public-keys --use-embedded-filename"
)
_OPENSSL: Final = (
    "--engine --out --config --provider --provider-path --keyout --writerand --CAserial --rand --signkey --accept"
    " --connect --WWW --www --HTTP --passin --pass --passout --kdfopt --propquery --sess_out --keylogfile"
    " --CAcreateserial --outdir --port"
)
_ELINKS: Final = "-config-dir -config-file -eval"

_VIM: Final = (
    "-c -S -s -u -U -i -w -W -r -q -l -es --cmd --remote -V --remote-expr --remote-send --remote-wait --startuptime --listen"
    " --servername --server --luamod-dev"
)
_SSH: Final = "-o -F -E -I -S -W -L -R -D -w -J -O -P"
_BINARY_TOOLS: Final = "--plugin --plugin-opt -o/ --output/"

OPTIONS: Final[dict[str, str]] = {
    "git": _GIT,
    "rg": "--pre --pre-glob --hostname-bin -z --search-zip --file -f --ignore-file",
    **dict.fromkeys(("fd", "fdfind"), "-x --exec -X --exec-batch -L"),
    **dict.fromkeys(
        ("find", "gfind"),
        "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from",
    ),
    **dict.fromkeys(("ag", "ack"), "--pager --ackrc -p --path-to-ignore --output"),
    **dict.fromkeys(("ugrep", "ug"), "--pager --filter --view --save-config --config -f --file"),
    "fzf": "--preview --bind --listen --listen-unsafe --with-shell --history --preview-label --become --tmux",
    "sort": "-o --output --compress-program -T --temporary-directory --files0-from",
    "shuf": "-o --output",
    "split": "--filter",
    "csplit": "-f --prefix",
    **dict.fromkeys(("mapfile", "readarray"), "-C"),
    "uniq": "",
    "tree": "-o --output --fromfile -R",
    "wc": "--files0-from",
    "du": "--files0-from",
    "file": "-m --magic-file -C --compile -f --files-from -z",
    "date": "-s --set -f --file",
    "man": "-P --pager -H --html -C --config-file -p --preprocessor -M --manpath -t --troff -T --troff-device -X --gxditview -l",
    "less": (
        "-o -O -k -K -t -T --lesskey-file --lesskey-src --lesskey-content --log-file --tag --tag-file"
    ),
    "bat": "--pager --diff --generate-config-file --build --source --target",
    "diff": "--output --to-file --from-file",
    **dict.fromkeys(("grep", "egrep", "fgrep"), "-f --file"),
    **dict.fromkeys(("tar", "gtar", "bsdtar"), _TAR),
    "cpio": "--rsh-command -F --file -I -O -E --pattern-file --absolute-filenames",
    "zip": "-T -TT --unzip-command",
    "unzip": "-d/ -:",
    **dict.fromkeys(("7z", "7za", "7zz"), "-o -si -t -i -w"),
    "rsync": _RSYNC,
    "ssh": _SSH,
    "scp": "-S -o -F -D -J",
    "sftp": "-S -o -D -b -F -s -J",
    "ssh-keygen": "-D -w -f -Y -s -O -T -M -K",
    "ssh-add": "-s -e -S -H",
    "curl": _CURL,
    "wget": _WGET,
    **dict.fromkeys(
        ("make", "gmake"), "-f --file --makefile -C --directory --eval -I --include-dir -E -e"
    ),
    "ninja": "-C -f -t",
    **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang", "clang++", "gfortran"), _C_COMPILERS),
    **dict.fromkeys(
        ("ld", "nm", "ar", "ranlib", "strip", "objcopy", "objdump", "size", "strings", "addr2line"),
        _BINARY_TOOLS,
    ),
    "ctags": "--options --optlib-dir --langdef -o -f --output-format-file --_xcmd",
    "cmake": (
        "-P -E -C -D -H -S/ -B/ --build/ --toolchain --install --open --preset --graphviz"
        " --trace-redirect --debugger --debugger-pipe --profiling-output --system-information"
    ),
    "ctest": "-S -SP -O -D --script --build-and-test --build-run-dir --overwrite --test-dir --output-junit --output-log",
    "cargo": "--test-builder --runtool --config --manifest-path -C -Z --out-dir --artifact-dir --open --git --index --registry",
    "rustc": "-C -Z -o/ -L --codegen --sysroot --out-dir --extern --emit --remap-path-prefix",
    "rustdoc": "-C -Z -o --codegen --theme --html-in-header --html-before-content --runtool --test-builder",
    "rustfmt": "--config --config-path",
    "go": (
        "--exec --toolexec -C --overlay --vettool --modfile -o/ --ldflags --gcflags --asmflags --gccgoflags --compiler --pkgdir"
        " --outputdir --coverprofile/ --cpuprofile/ --memprofile/ --blockprofile/ --mutexprofile/ --trace/ --fuzzcachedir"
    ),
    **dict.fromkeys(("npm", "npx"), _NPM),
    "pnpm": f"{_NPM} --dir --shell-mode --recursive-exec --store-dir --modules-dir --config",
    "yarn": f"{_NPM} --cwd --use-yarnrc --modules-folder --cache-folder --global-folder",
    "bun": "-e --eval -p --print -r --preload --require --import -c --config --cwd --shell --inspect -d --outdir --outfile",
    "pip": _PIP,
    "uv": (
        "--directory --project --config-file --python -p --index-url -i --default-index --index --find-links -f --cache-dir"
        " --target --prefix --extra-index-url --with --with-editable --with-requirements --env-file --build-constraint"
    ),
    "poetry": "-C --directory -P --project",
    "pdm": "-p --project -c --config -g --global",
    "pipenv": "--python --pypi-mirror --site-packages",
    "hatch": "-p --project --config --data-dir --cache-dir",
    **dict.fromkeys(("conda", "mamba", "micromamba"), "-c --channel -p --prefix -f --file"),
    "pytest": (
        "-p --rootdir -c --config-file --confcutdir --import-mode -o --override-ini --basetemp --junitxml --junit-xml --pdbcls"
        " --log-file --debug --pastebin --pyargs --cov-config --html --report-log --result-log --resultlog --log-config --ds --dc"
        " --tx --rsyncdir"
    ),
    "tox": "-c --conf --root --workdir -x --override --runner --installpkg --discover --result-json",
    "nox": "-f --noxfile --envdir --json-config -P --force-python --force-pythons --extra-python --extra-pythons",
    "python": "-c - -i -X",
    "ruby": "-e -r - -C -I -S -x",
    "perl": "-e -E -M -m -I - -d -V -x -i",
    "php": "-r -d -B -R -E -S -c -a -F -z -t --define --php-ini --run --server --interactive --zend-extension --process-code",
    "lua": "-e -l -",
    "node": _NODE,
    "deno": _DENO,
    "swift": "-e -Xlinker -Xcc -Xswiftc --toolset --package-path --allow-writing-to-directory --scratch-path",
    **dict.fromkeys(("java", "kotlin", "scala"), ""),
    "javac": "-J --Xplugin --processor --processorpath --processor-path -d/ -s/ -h/",
    "kotlinc": "-J -Xplugin --script -d/ -e",
    "ghc": _GHC,
    "stack": "--exec --stack-yaml --docker --with-gcc --work-dir --file-watch",
    "cabal": "-w --with-compiler --with-ghc --config-file --project-file --with-hc-pkg --installdir --builddir",
    "opam": "--root --switch",
    "dune": "--root --workspace --build-dir",
    "zig": "--build-file --test-cmd --test-cmd-bin --zig-lib-dir --cache-dir --global-cache-dir -femit-bin --test-runner",
    "nim": "-r --run --gcc.exe --gcc.linkerexe --out -o --passC --passL --cc --nimcache --outdir --import --include -d",
    "crystal": "--link-flags --cross-compile -o --prelude",
    "mix": "-e --eval -r --require",
    "iex": "-e --eval -r -S --dot-iex --remsh",
    "elixir": "-e --eval -r -pr -S --rpc-eval",
    "lein": "",
    **dict.fromkeys(("clj", "clojure"), "-e -M -X -T -Sdeps -J -A -i -Scp"),
    "sbt": "-J -D --java-home --sbt-launch-jar --jvm-opts --sbt-dir --sbt-boot --ivy --script --addPluginSbtFile",
    "dotnet": (
        "-p -property --property -l -logger --logger --settings -s --test-adapter-path -a --launch-profile --project -o"
        " --output --artifacts-path -bl --results-directory --collect --diag -d"
    ),
    "mvn": _MAVEN,
    "gradle": _GRADLE,
    "ant": (
        "-f --file --buildfile --lib --logger --listener --inputhandler --propertyfile -s --find -l --logfile --main"
    ),
    "bazel": _BAZEL,
    "buck": "--config --config-file -c",
    "just": (
        "-f --justfile --shell --shell-arg -c --command -d --working-directory --set --chooser --choose --edit -e -g"
        " --dotenv-filename"
    ),
    "rake": "-f --rakefile -e --execute -E --execute-continue -p --execute-print -r --require -R --rakelibdir -I --libdir -g",
    "bundle": "--gemfile --path -e --editor",
    "gem": "--config-file -e --editor -i --install-dir -n --bindir -P --trust-policy -s --source",
    "composer": "-d --working-dir --repository --repository-url",
    "rspec": "-r --require -I -O --options -o --out --drb",
    "phpunit": (
        "--bootstrap -c --configuration --include-path --prepend --loader --printer --log-junit --log-teamcity --testdox-html"
        " -d --coverage-html --coverage-clover --coverage-php --extension --cache-directory"
    ),
    "phpcs": "--standard --report-file --bootstrap --runtime-set --config-set --basepath --installed_paths",
    "mocha": (
        "-r --require --config --opts --package --file --loader --import -n --node-option -O --reporter-option --reporter-options"
        " -R -u --ui --experimental-loader --enable-source-maps-file"
    ),
    "jest": _JEST,
    "vitest": "-c --config -r --root --globalSetup --dir --outputFile --api --ui",
    "webpack": "-c --config -r --require --config-register -o --output-path --entry --context --config-name-file",
    "vite": "-c --config --outDir --root",
    "rollup": "-c --config -p --plugin --configPlugin -o --file -d --dir --watch.onStart --watch.onEnd --watch.onBundleStart",
    "babel": "--plugins --presets --config-file -o --out-file -d --out-dir --root-mode --root --env-file",
    "esbuild": "--outfile --outdir --serve --servedir --tsconfig --metafile --inject",
    "eslint": _ESLINT,
    "prettier": "--write -w --plugin --plugin-search-dir --config --cache-location",
    "stylelint": (
        "--fix --config -c --config-basedir --custom-formatter --custom-syntax -o --output-file --cache-location --plugins -f"
    ),
    "tsc": (
        "-p/ --project/ --outDir --outFile --build/ -b/ --declarationDir --tsBuildInfoFile --generateTrace --plugins"
        " --generateCpuProfile"
    ),
    "mypy": (
        "--config-file --install-types --python-executable --html-report --xml-report --txt-report --any-exprs-report --cache-dir"
        " --junit-xml --xslt-html-report --cobertura-xml-report --linecount-report --custom-typeshed-dir --shadow-file"
    ),
    "pylint": "--init-hook --load-plugins --rcfile --output --enable-all-extensions --import-graph --ext-import-graph",
    "flake8": "--config --append-config --enable-extensions --output-file --tee --isolated-config",
    "isort": "--settings-path --settings-file --sp --src-path",
    "bandit": "-c --ini -o --output -p",
    "ruff": "--config --output-file -o --cache-dir",
    "black": "--config -c --code --required-plugin",
    "shellcheck": "--rcfile -x --external-sources",
    "sphinx-build": "-c -D -C -w -A --conf-dir",
    "mkdocs": "-f --config-file -d --site-dir -t --theme -a --dev-addr",
    **dict.fromkeys(
        ("latex", "pdflatex", "xelatex", "lualatex", "tex", "pdftex", "luatex", "latexmk"),
        "--shell-escape --shell-restricted --enable-write18 --output-directory --output-dir --cnf-line --lua -e -r --fmt",
    ),
    "pandoc": (
        "-F --filter -L --lua-filter --pdf-engine --pdf-engine-opt -d --defaults --data-dir -o/ --output/ --template"
        " --extract-media --log --server --sandbox-off -H --include-in-header --syntax-definition"
    ),
    "xxd": "-r",
    "xmllint": "--shell --output -o --catalogs --noent --load-trace --path --postvalid --dtdvalid",
    "openssl": _OPENSSL,
    "gpg": _GPG,
    "gpg2": _GPG,
    "rpm": (
        "-E --eval -D --define --pipe --root -r --rcfile --macros --load --dbpath -i -U -F -e --install --upgrade --erase"
        " --predefine --undefine --initdb --rebuilddb --import"
    ),
    **dict.fromkeys(("apt", "apt-get", "apt-cache", "aptitude"), "-o --option -c --config-file"),
    "dpkg": (
        "--admindir --root --instdir --pre-invoke --post-invoke --status-logger --log -i --install -P -r --unpack --configure"
        " --command-fd --path-include"
    ),
    **dict.fromkeys(("yum", "dnf"), "-c --setopt --installroot --enableplugin --config"),
    "pacman": "--hookdir --config --root -r --dbpath -b --gpgdir --cachedir",
    "sqlite3": "-cmd -init --cmd --init -A --vfs --unsafe-testing",
    "psql": "-c -f -o -L -v --set --variable --command --file --output --log-file",
    **dict.fromkeys(
        ("mysql", "mariadb"),
        "--defaults-file --defaults-extra-file --plugin-dir --plugin_dir --tee --init-command --pager -e --execute -T"
        " --default-auth",
    ),
    "redis-cli": "--eval -x -X --pipe --rdb --functions-rdb -h",
    **dict.fromkeys(("mongo", "mongosh"), "--eval -f --file --shell"),
    "duckdb": "-c -s -init -cmd -f",
    "gs": "-dNOSAFER -dDELAYSAFER -sOutputFile -o -c -I -sDEVICE -dALLOWPSTRANSPARENCY --permit-file-all",
    "ffmpeg": (
        "-dump_attachment -filter_script -report -protocol_whitelist -passlogfile -vstats_file -progress"
        " -filter_complex_script"
    ),
    "nmap": (
        "--script --script-args-file --script-args --datadir --servicedb --versiondb --interactive -oN -oX -oA -oG -oS -iL"
        " --stylesheet --resume"
    ),
    "tcpdump": "-z --postrotate-command -w -r -F -Z",
    "dc": "-e --expression -f --file",
    "bc": "",
    "jq": "-f --from-file -L --rawfile --slurpfile --argfile",
    "hexdump": "-f",
    "emacs": "-l --load -f --funcall -e --eval --execute --script -x --insert -L --directory --batch -u --user",
    "code": (
        "--install-extension --extensions-dir --user-data-dir --locate-shell-integration-path --folder-uri --file-uri --remote"
        " --add-mcp --inspect-extensions --inspect-brk-extensions"
    ),
    "nano": "-s --speller -f --rcfile -C --backupdir -o --operatingdir",
    "tmux": "-c -f -S -L",
    "meson": "--wrapper --wrap --ninja-args --vs-args --xcode-args --internal --cross-file --native-file",
    "coverage": "--rcfile -d --directory -o --data-file --plugins --concurrency",
    "yq": "--security-enable-system-operator -i --inplace --from-file -s --split-exp --split-exp-file --front-matter-file",
    **dict.fromkeys(("sed", "gsed"), "-i --in-place -f --file"),
    **dict.fromkeys(
        ("awk", "gawk", "mawk", "nawk"),
        "-f --file -i --include -l --load -E --exec -D --debug -d --dump-variables -o --pretty-print -p --profile -W",
    ),
    **dict.fromkeys(("vim", "vi", "nvim", "view", "ex", "vimdiff", "gvim"), _VIM),
    **dict.fromkeys(
        ("docker", "podman", "nerdctl"),
        _DOCKER
        + " --output --secret --url --remote --hooks-dir -f/ --file/ --project-directory/ --env-file/",
    ),
    "docker-compose": "-f/ --file/ --project-directory/ --env-file/ -H --host --context -c",
    "kubectl": (
        "--edit --kubeconfig -s --server --token --as --as-group --cluster-server --cache-dir --insecure-skip-tls-verify"
        " --enable-exec --enable-alpha-plugins --exec-command"
        " --profile-output --kustomize-plugin"
    ),
    "helm": (
        "--kubeconfig --post-renderer --post-renderer-args --kube-apiserver --kube-token --repository-config"
        " --registry-config --repository-cache -d --destination --output-dir"
    ),
    **dict.fromkeys(
        ("terraform", "tofu"),
        "--chdir --plugin-dir --from-module --backend-config --auto-approve --out --state --state-out --backup --lock-file",
    ),
    "aws": "--endpoint-url --ca-bundle --no-verify-ssl --cli-input-json --cli-input-yaml",
    "gcloud": "--flags-file --configuration --access-token-file --impersonate-service-account --command",
    "ansible-playbook": _ANSIBLE,
    "svn": "--config-option --diff-cmd --diff3-cmd --editor-cmd --merge-cmd --config-dir",
    "hg": "--config -R --repository --cwd --remotecmd -e --ssh --debugger -p --program -c --command --tool -o --option",
    "systemctl": "-H --host --root --image -M --machine --user-config",
    "journalctl": "--file --root --directory -D --image --cursor-file --vacuum-time --vacuum-size --vacuum-files --rotate -M",
    "ip": "-b -batch --batch -n -netns",
    "mount": "-o -B --bind -M --move -R --rbind -T --fstab -N --namespace",
    "logrotate": "-m --mail -s --state -l --log",
    "strace": "-o --output",
    "gdb": "-x -ex -ix -iex -p -cd --command --init-command --eval-command --args",
    "alembic": "-c --config -x",
    "django-admin": "--pythonpath --settings --template -c --command --extension",
    "flask": "-A --app -e --env-file",
    "celery": "-A --app --workdir -b --broker --config --loader",
    "gunicorn": (
        "-c --config --chdir --pythonpath -k --worker-class --logger-class -b --bind --access-logfile --error-logfile"
        " --log-config --log-config-dict --log-config-json -e --env -p --pid --paste --statsd-host"
    ),
    "uvicorn": "--app-dir --log-config --loop --http --ws --lifespan-class --env-file --uds --fd",
    "hypercorn": "-c --config --access-logfile --error-logfile --log-config -k --worker-class",
    "pre-commit": "-c --config -t --hook-type",
    "vagrant": "-c --command",
    "xcodebuild": "--project --workspace --xcconfig --toolchain --derivedDataPath --resultBundlePath --exportOptionsPlist",
    "flutter": "--packages -t --target --local-engine",
    "dart": "--packages -o --output --enable-vm-service",
    "pod": "--project-directory",
    **dict.fromkeys(
        ("turbo", "nx", "lerna"), "--cwd --command --script --executor --runner --tasksRunner"
    ),
    **dict.fromkeys(("links", "elinks"), _ELINKS),
}
"""The options by program. An empty entry: only subcommands matter."""

SINGLE_DASH: Final = names(
    """
    go java javac kotlinc kotlin scala terraform tofu ant openssl xcodebuild sbt latex pdflatex xelatex lualatex tex pdftex
    luatex latexmk sqlite3 mvn npm npx pnpm yarn tsc flutter ld nm
    """
)
"""Programs that treat ``-output``, ``--output`` and ``---output`` alike."""
EXACT: Final = names(
    """
    go java javac terraform tofu bazel kotlinc tsc node deno bun jq eslint jest vitest vite esbuild docker podman kubectl helm
    cargo uv ruff rustc pnpm docker-compose turbo
    """
)
"""Programs that accept no abbreviated options."""
PASSING_ON: Final = names(
    "npm pnpm yarn bun cargo uv just bazel dotnet swift gradle poetry pdm hatch"
)
"""Programs that pass the arguments after ``--`` to a script or a test of the project."""
BUNDLERS: Final = frozenset(("gs", "nmap", "dotnet", "gdb"))
"""Programs whose single-dash options have several letters and an attached value."""

ARGUMENT_FILES: Final = names(
    """
    gcc g++ cc c++ clang clang++ gfortran ld java javac kotlinc rustc rustdoc tsc dotnet msbuild pytest swiftc ghc ar csc mypy
    ruff
    """
)
"""Programs that read more arguments from ``@file``."""

PROPERTIES: Final = frozenset(("mvn", "gradle", "java", "ant", "sbt"))
"""Programs that accept arbitrary settings as ``-Dname=value``."""
HARMLESS_PROPERTY: Final = re.compile(
    r"(?:[\w.-]*skip[\w.-]*|test|it\.test|tests?\.\w+|groups|excludedGroups|failIfNoTests|surefire\.failIfNoSpecifiedTests|quick\w*"
    r"|style\.color|revision|changelist|sha1|file\.encoding|project\.build\.sourceEncoding|maven\.test\.failure\.ignore"
    r"|org\.gradle\.(?:daemon|parallel|caching|console|warning\.mode|logging\.level|configureondemand))(?:=.*)?",
    re.IGNORECASE,
)
"""Common settings that only select what is built or tested."""
