type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that every program needs: paths, user, language and time zone. */
const NEEDED =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_ALL|LC_CTYPE|TZ|TMPDIR|TMP|TEMP|XDG_(?:CACHE|CONFIG|DATA)_HOME|XDG_RUNTIME_DIR|SystemRoot|ComSpec|PATHEXT|(?:LOCAL)?APPDATA|USERPROFILE)$/u;

/** Further variables of a program that fetches and builds sources: proxies, certificates, and its own settings. */
const NEEDED_TO_BUILD =
  /^(?:GO[A-Z0-9_]*|CGO_[A-Z_]+|CC|CXX|GIT_SSL_CAINFO|SSL_CERT_(?:FILE|DIR)|(?:HTTP|HTTPS|NO|ALL)_PROXY|(?:http|https|no|all)_proxy)$/u;

/** The environment of a program that Lote starts. Lote removes all other variables, because they hold keys, secrets and database addresses. */
export function childEnvironment(env: Environment): Record<string, string> {
  return only(env, [NEEDED]);
}

/** The environment of a build. */
export function buildEnvironment(env: Environment): Record<string, string> {
  return only(env, [NEEDED, NEEDED_TO_BUILD]);
}

function only(env: Environment, needed: readonly RegExp[]): Record<string, string> {
  const isNeeded = (entry: [string, string | undefined]): entry is [string, string] =>
    entry[1] !== undefined && needed.some((names) => names.test(entry[0]));
  return Object.fromEntries(Object.entries(env).filter(isNeeded));
}
