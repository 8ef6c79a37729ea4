/** One link of a `Link` header. */
export interface Link {
  /** As written: absolute or relative. */
  readonly target: string;
  /** In lower case. */
  readonly relations: readonly string[];
  /** The link is about another document than the one that carries it. */
  readonly anchored: boolean;
}

const TARGET = /[\s,]*<([^>]*)>/y;
const PARAMETER = /\s*;\s*(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?)?/y;
const BETWEEN = /\s*(?:,|$)/y;

/** The links of a `Link` header (RFC 8288); null: it is not written as one, and no link of it can be trusted. */
export function parseLinkHeader(header: string): readonly Link[] | null {
  const text = header.trim();
  const links: Link[] = [];
  let at = 0;

  function take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match !== null) at = pattern.lastIndex;
    return match;
  }

  while (at < text.length) {
    const target = take(TARGET)?.[1];
    if (target === undefined) return null;
    const parameters = new Map<string, string>();
    for (let match = take(PARAMETER); match !== null; match = take(PARAMETER)) {
      const [, name = '', quoted, bare = ''] = match;
      // RFC 8288: of several rel parameters the first counts.
      if (!parameters.has(name.toLowerCase()))
        parameters.set(name.toLowerCase(), quoted?.replaceAll(/\\(.)/g, '$1') ?? bare);
    }
    if (take(BETWEEN) === null) return null;
    links.push(linkOf(target, parameters));
  }
  return links;
}

function linkOf(target: string, parameters: ReadonlyMap<string, string>): Link {
  const relations = (parameters.get('rel') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  return { target: target.trim(), relations, anchored: parameters.has('anchor') };
}
