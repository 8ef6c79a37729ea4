import type { ServiceProfile } from '../../service-profile/profile.ts';
import type { ExchangeRecording } from './recording.ts';

type Operation = NonNullable<ExchangeRecording['operation']>;

/** Which request of the profile an address belongs to. */
export interface FoundOperation {
  readonly operation: Operation;
  /** The id that stands in the path of `get-invoice`; null: it has none. */
  readonly id: string | null;
  /** How long the path of the profile is within the whole path of the address. */
  readonly pathLength: number;
}

/** Finds the request of a profile by method and address; null: none has it. The address may be a whole one or a path. */
export type OperationFinder = (method: string, address: string) => FoundOperation | null;

interface Pattern {
  readonly operation: Operation;
  readonly method: string;
  readonly path: RegExp;
  readonly query: readonly (readonly [name: string, value: RegExp])[];
}

const ID = '{id}';
const ANYWHERE = 'http://service.invalid';

/** Makes the finder of a profile: a path counts if it ends with that of the profile, and has at least its query. */
export function createOperationFinder({ requests }: ServiceProfile): OperationFinder {
  // The path of one may end with that of another: the longer one is meant.
  const patterns = [
    patternOf('create-invoice', 'POST', requests.createInvoice.path),
    patternOf('get-invoice', 'GET', requests.getInvoice.path),
    patternOf('create-merchant', 'POST', requests.createMerchant.path),
    patternOf('list-merchants', 'GET', requests.listMerchants.path),
    patternOf('register-webhook', 'POST', requests.registerWebhook.path),
  ].toSorted((one, other) => weightOf(other) - weightOf(one));
  return (method, address) => {
    if (!URL.canParse(address, ANYWHERE)) return null;
    const url = new URL(address, ANYWHERE);
    for (const pattern of patterns) {
      const found = pattern.method === method.toUpperCase() ? fit(pattern, url) : null;
      if (found !== null) return { operation: pattern.operation, ...found };
    }
    return null;
  };
}

function patternOf(operation: Operation, method: string, template: string): Pattern {
  const [path = '', query = ''] = template.split('?', 2);
  const parameters = [...new URLSearchParams(query)];
  return {
    ...{ operation, method },
    path: new RegExp(`${patternText(path, '([^/?#]+)')}/?$`),
    query: parameters.map(([name, value]) => [name, new RegExp(`^${patternText(value, '(.+)')}$`)]),
  };
}

function patternText(template: string, id: string): string {
  return template
    .split(ID)
    .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join(id);
}

function weightOf({ path, query }: Pattern): number {
  return query.length * 1_000 + path.source.length;
}

function fit({ path, query }: Pattern, { pathname, searchParams }: URL): Omit<FoundOperation, 'operation'> | null {
  const inPath = path.exec(pathname);
  if (inPath === null) return null;
  let id = inPath[1] ?? null;
  for (const [name, value] of query) {
    const found = value.exec(searchParams.get(name) ?? '\0');
    if (found === null) return null;
    id ??= found[1] ?? null;
  }
  return { id: id === null ? null : decoded(id), pathLength: inPath[0].length };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
