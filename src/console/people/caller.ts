import type { Context } from 'hono';

/** `look`: read and download. `operate`: everything that the console offers. */
export type Role = 'look' | 'operate';

/** Who sends a request, as far as this console knows. */
export type Caller =
  /** Sign-in is off: every caller may act, and no person has a name. */
  | { readonly kind: 'anybody' }
  | { readonly kind: 'person'; readonly name: string; readonly role: Role }
  /** It showed the console's token, with sign-in on. */
  | { readonly kind: 'program' };

/** How the audit names a person who acts while sign-in is off. */
export const BY_CONSOLE = 'console';
/** How the audit names a program with the console's token while sign-in is on. */
export const BY_PROGRAM = 'console-token';

declare module 'hono' {
  interface ContextVariableMap {
    caller: Caller;
  }
}

/**
 * Who sends this request, as the guard in front of the route has found.
 * @throws Error when no guard said so: then no caller may act
 */
export function callerOf(context: Context): Caller {
  const caller = context.get('caller') as Caller | undefined;
  if (caller === undefined) throw new Error('A route was reached that has no guard, so the caller is not known.');
  return caller;
}

/** Whether this caller may set anything in motion. */
export function mayOperate(context: Context): boolean {
  const caller = callerOf(context);
  return caller.kind !== 'person' || caller.role === 'operate';
}

/** Who acts, as the audit names it; at most 128 characters. */
export function actorOf(context: Context): string {
  const caller = callerOf(context);
  if (caller.kind === 'person') return caller.name;
  return caller.kind === 'program' ? BY_PROGRAM : BY_CONSOLE;
}

/** What this caller may set in motion: nothing for a person who may only look. */
export function actionsFor<Actions>(context: Context, actions: Actions | undefined): Actions | undefined {
  return mayOperate(context) ? actions : undefined;
}
