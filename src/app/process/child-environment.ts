type Environment = Readonly<Record<string, string | undefined>>;

/** What a program needs to run at all: where things are, who runs it, language and time zone. */
const NEEDED = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR', 'TMP', 'TEMP'],
  ...[
    'XDG_CACHE_HOME',
    'XDG_CONFIG_HOME',
    'XDG_DATA_HOME',
    'XDG_RUNTIME_DIR',
    'SystemRoot',
    'ComSpec',
    'PATHEXT',
    'APPDATA',
  ],
  ...['LOCALAPPDATA', 'USERPROFILE'],
];

/** What a program that fetches and builds sources needs besides: proxies, certificates, its own settings. */
const NEEDED_TO_BUILD =
  /^(?:GO[A-Z0-9_]*|CGO_[A-Z_]+|CC|CXX|GIT_SSL_CAINFO|SSL_CERT_(?:FILE|DIR)|(?:HTTP|HTTPS|NO|ALL)_PROXY|(?:http|https|no|all)_proxy)$/u;

/** The environment of a program that Lote starts. Nothing else of Lote's own goes there: it holds keys, secrets and database addresses. */
export function childEnvironment(env: Environment): Record<string, string> {
  return only(env, (name) => NEEDED.includes(name));
}

/** The environment of a build. */
export function buildEnvironment(env: Environment): Record<string, string> {
  return only(env, (name) => NEEDED.includes(name) || NEEDED_TO_BUILD.test(name));
}

function only(env: Environment, isNeeded: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && isNeeded(entry[0])),
  );
}
