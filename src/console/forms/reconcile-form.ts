import { html } from 'hono/html';
import type { Outcome } from '../../domain/invoice-state.ts';
import type { PageFormat } from '../pages/page-format.ts';
import type { Html } from '../pages/page-layout.ts';

/** What reconciliation can settle: the service may know more of it than the ledger. */
export const SETTLED_BY_POLLING: readonly Outcome[] = ['unknown', 'unsettled'];

/** Asks the service now instead of in a quarter of an hour; `back` is the page that was left. */
export function reconcileForm({ texts: { reconcile }, action }: PageFormat, back: string): Html {
  return html`<section class="card" aria-label="${reconcile.title}">
    <h2>${reconcile.title}</h2>
    <form action="${action(`${back}/reconcile`)}" method="post">
      <button>${reconcile.button}</button>
      <p class="soft">${reconcile.note}</p>
    </form>
  </section>`;
}
