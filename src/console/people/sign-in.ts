import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import type { Context } from 'hono';
import { BY_CONSOLE, BY_PROGRAM, type Role } from './caller.ts';

/** How people are signed in by a reverse proxy, and what they may do. */
export interface SignIn {
  /** Addresses (`10.1.2.3`) and networks (`10.1.0.0/16`, `fd00::/8`) of the proxies that are believed. */
  readonly trustedProxies: readonly string[];
  /** Request header in which a proxy names the person. */
  readonly userHeader: string;
  /** Request header in which it names the person's groups, with commas between. */
  readonly groupsHeader: string;
  /** Names of those who may operate; everybody else may look. */
  readonly operators: readonly string[];
  /** Groups whose members may operate. */
  readonly operatorGroups: readonly string[];
  /** Address at which people reach the proxy. */
  readonly publicUrl: string;
}

/** What a request says of the person behind it. */
export type Person =
  | { readonly kind: 'person'; readonly name: string; readonly role: Role }
  /** A trusted proxy sent a name that cannot be one. */
  | { readonly kind: 'unreadable' }
  /** No trusted proxy names anybody. */
  | { readonly kind: 'nobody' };

const LONGEST_NAME = 128;
/** Without controls, and without commas: a proxy further out may have joined two headers, of which one may be forged. */
const NAME = /^[^\p{C},]+$/u;
/** Actors of the audit that are no people. */
const RESERVED: ReadonlySet<string> = new Set([BY_CONSOLE, BY_PROGRAM, 'lote']);

/**
 * Reads the person of a request. The header counts only when the connection itself comes from a trusted address; what other headers say about
 * where a request came from is never read.
 */
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

/** The address of the peer of the socket. A connection that is over has none, and is not trusted. */
function isTrusted(trusted: BlockList, { socket }: IncomingMessage): boolean {
  const address = socket.remoteAddress ?? '';
  const family = isIP(address);
  return family !== 0 && trusted.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** A proxy that adds its line to one of the client's own lets through what is forged. */
function isDoubled({ headersDistinct }: IncomingMessage, header: string): boolean {
  return (headersDistinct[header.toLowerCase()]?.length ?? 0) > 1;
}

/** Node reads the bytes of a header as Latin-1; proxies send UTF-8. What is no UTF-8 stays as it was read. */
function asUtf8(value: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}
