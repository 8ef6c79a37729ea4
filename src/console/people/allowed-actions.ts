import type { Context } from 'hono';
import type { ConsoleActions } from '../console-options.ts';
import { mayOperate } from './caller.ts';

/** What this caller may set in motion: of somebody who may only look, only the questions are left. */
export function actionsFor(context: Context, actions: ConsoleActions | undefined): ConsoleActions | undefined {
  if (actions === undefined || mayOperate(context)) return actions;
  return actions.stuck === undefined ? {} : { stuck: actions.stuck };
}
