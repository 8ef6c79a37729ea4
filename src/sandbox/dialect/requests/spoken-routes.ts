import { ROUTES } from '../../http/routes.ts';
import type { Route } from '../../http/routes.ts';
import type { Dialect, Routed } from '../dialect.ts';
import type { SpokenProfile } from '../spoken-profile.ts';

/** A route under the address that the profile gives it. */
interface SpokenRoute {
  readonly route: Route;
  readonly pathname: RegExp;
  /** Parameters of the query that must be there. */
  readonly query: readonly (readonly [name: string, value: RegExp])[];
}

const ID = '{id}';
/** Stands for the id while the address is read: it must survive that unchanged. */
const STAND_IN = 'id-of-the-invoice';
const ANYWHERE = 'http://sandbox.invalid';

/** Finds operations under the paths of the profile; where two fit, the one that asks for more of the query. */
export function spokenRoutes({ requests }: SpokenProfile): Dialect['findRoute'] {
  const routes = ROUTES.map((route) => spoken(route, requests[route.operationId as keyof Paths].path));
  return (method, url): Routed => {
    const there = routes.filter((one) => one.pathname.test(url.pathname) && fits(one, url));
    const [best] = there
      .filter(({ route }) => route.method === method)
      .toSorted((one, other) => other.query.length - one.query.length);
    if (best !== undefined) {
      // The operations read no parameter: pages of the list are cut by the profile.
      return { kind: 'found', route: best.route, id: idIn(best, url), query: new URLSearchParams() };
    }
    if (there.length === 0) return { kind: 'nothing' };
    return { kind: 'wrong-method', allowed: [...new Set(there.map(({ route }) => route.method))] };
  };
}

type Paths = Omit<SpokenProfile['requests'], 'headers' | 'contentType'>;

function spoken(route: Route, path: string): SpokenRoute {
  const { pathname, searchParams } = new URL(path.replaceAll(ID, STAND_IN), ANYWHERE);
  const query = [...searchParams].map(([name, value]) => [name, patternOf(value)] as const);
  return { route, pathname: patternOf(pathname), query };
}

function patternOf(text: string): RegExp {
  const parts = text.split(STAND_IN).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  const [before = '', ...after] = parts;
  // Of several, the first is the id; the others are not compared with it.
  return new RegExp(
    `^${after.reduce((whole, part, index) => `${whole}${index === 0 ? '([^/]+)' : '[^/]+'}${part}`, before)}$`,
  );
}

function fits({ query }: SpokenRoute, url: URL): boolean {
  return query.every(([name, value]) => url.searchParams.getAll(name).some((found) => value.test(found)));
}

function idIn({ pathname, query }: SpokenRoute, url: URL): string {
  const inPath = pathname.exec(url.pathname)?.[1];
  const inQuery = query.map(([name, value]) => value.exec(url.searchParams.get(name) ?? '')?.[1]);
  return [inPath, ...inQuery].find((id) => id !== undefined) ?? '';
}
