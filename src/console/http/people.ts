import type { Context } from 'hono';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

interface NotedByConsole {
  readonly who: string;
  readonly what: 'start' | 'reconcile' | 'download';
  readonly why: string;
}

/** Sign-in by a proxy, and the audit of the signed-in people's acts. */
export interface People {
  readonly signIn: SignIn;
  /** Writes into the audit of a batch. @throws LoteError `ledger-unavailable` */
  readonly note: (batchId: string, action: NotedByConsole) => Promise<void>;
}

/** Writes an act into the audit of each batch before the act; Lote does not perform an act that it cannot record. @throws LoteError `ledger-unavailable` */
export async function noteAct(
  context: Context,
  people: People | undefined,
  batchIds: readonly string[],
  act: Omit<NotedByConsole, 'who'>,
): Promise<void> {
  if (people === undefined || callerOf(context).kind === 'anybody') return;
  const noted = { ...act, who: actorOf(context) };
  await Promise.all([...new Set(batchIds)].map((batchId) => people.note(batchId, noted)));
}

/** `look`: read and download. `operate`: everything that the console offers. */
export type Role = 'look' | 'operate';

/** The sender of a request, as far as this console knows. */
export type Caller =
  /** Sign-in is off: every caller may act, and no person has a name. */
  | { readonly kind: 'anybody' }
  | { readonly kind: 'person'; readonly name: string; readonly role: Role }
  | { readonly kind: 'program' };

const BY_CONSOLE = 'console';
const BY_PROGRAM = 'console-token';

declare module 'hono' {
  interface ContextVariableMap {
    caller: Caller;
  }
}

/** Returns the caller that the guard has found. @throws Error if the route has no guard: then no caller may act */
export function callerOf(context: Context): Caller {
  const caller = context.get('caller') as Caller | undefined;
  if (caller === undefined) throw new Error('A route was reached that has no guard, so the caller is not known.');
  return caller;
}

/** Returns true if this caller may start actions. */
export function mayOperate(context: Context): boolean {
  const caller = callerOf(context);
  return caller.kind !== 'person' || caller.role === 'operate';
}

/** Returns the actor's name for the audit; at most 128 characters. */
export function actorOf(context: Context): string {
  const caller = callerOf(context);
  if (caller.kind === 'person') return caller.name;
  return caller.kind === 'program' ? BY_PROGRAM : BY_CONSOLE;
}

/** Returns the actions that this caller may start: none for a person with the role `look`. */
export function actionsFor<Actions>(context: Context, actions: Actions | undefined): Actions | undefined {
  return mayOperate(context) ? actions : undefined;
}

/** How a reverse proxy signs people in, and what they may do. */
export interface SignIn {
  readonly trustedProxies: readonly string[];
  readonly userHeader: string;
  readonly groupsHeader: string;
  readonly operators: readonly string[];
  readonly operatorGroups: readonly string[];
  readonly publicUrl: string;
}

type Person =
  | Extract<Caller, { kind: 'person' }>
  /** A trusted proxy sent a text that cannot be a name. */
  | { readonly kind: 'unreadable' }
  /** No trusted proxy names a person. */
  | { readonly kind: 'nobody' };

const LONGEST_NAME = 128;
/** A name has no control characters and no commas: an outer proxy may have joined two headers, one of which may be forged. */
const NAME = /^[^\p{C},]+$/u;
const RESERVED: ReadonlySet<string> = new Set([BY_CONSOLE, BY_PROGRAM, 'lote']);

/** Returns a function that reads the person of a request. The header counts only on a connection from a trusted address. */
export function personReader(signIn: SignIn): (context: Context) => Person {
  const trusted = blockListOf(signIn.trustedProxies);
  return (context) => {
    const request = (context.env as { readonly incoming?: IncomingMessage } | undefined)?.incoming;
    const given = context.req.header(signIn.userHeader);
    if (request === undefined || given === undefined || !isTrusted(trusted, request)) return { kind: 'nobody' };
    if (isDoubled(request, signIn.userHeader) || isDoubled(request, signIn.groupsHeader)) return { kind: 'unreadable' };
    const name = asUtf8(given).trim();
    if (name.length > LONGEST_NAME || !NAME.test(name) || RESERVED.has(name.toLowerCase()))
      return { kind: 'unreadable' };
    return { kind: 'person', name, role: roleOf(signIn, name, context.req.header(signIn.groupsHeader) ?? '') };
  };
}

function roleOf({ operators, operatorGroups }: SignIn, name: string, groups: string): Role {
  const named = operators.includes(name);
  const grouped = asUtf8(groups)
    .split(',')
    .some((group) => operatorGroups.includes(group.trim()));
  return named || grouped ? 'operate' : 'look';
}

function blockListOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/** Returns true if the socket's peer has a trusted address. A closed connection has no address, and is not trusted. */
function isTrusted(trusted: BlockList, { socket }: IncomingMessage): boolean {
  const address = socket.remoteAddress ?? '';
  const family = isIP(address);
  return family !== 0 && trusted.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** Returns true for a repeated header: a proxy that only adds its line to the client's lines lets a forged line through. */
function isDoubled({ headersDistinct }: IncomingMessage, header: string): boolean {
  return (headersDistinct[header.toLowerCase()]?.length ?? 0) > 1;
}

/** Decodes a header as UTF-8: Node reads the bytes as Latin-1, but proxies send UTF-8. A text that is not UTF-8 stays unchanged. */
function asUtf8(value: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}
