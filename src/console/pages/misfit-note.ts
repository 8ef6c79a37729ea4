import { html } from 'hono/html';
import type { ProfileMisfit } from '../../domain/profile-misfit.ts';
import type { PageFormat } from './page-format.ts';
import type { Html } from './page-layout.ts';

/** What does not fit the service profile; nothing where all of it fits. */
export function misfitNote({ texts, time }: PageFormat, misfits: readonly ProfileMisfit[]): Html {
  if (misfits.length === 0) return html``;
  return html`<section class="card" role="alert">
    <p><strong>${texts.misfits}</strong></p>
    ${misfits.map(({ message, lastAt }) => html`<p>${message} <span class="soft">${time(lastAt)}</span></p>`)}
  </section>`;
}
