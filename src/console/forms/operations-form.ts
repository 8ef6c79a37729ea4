import { html } from 'hono/html';
import type { BatchWatch } from '../console-options.ts';
import type { PageFormat } from '../pages/page-format.ts';
import type { Html } from '../pages/page-layout.ts';
import { reasonField } from './reason-field.ts';

export interface OperationsForm {
  readonly batchId: string;
  readonly watch: BatchWatch;
}

/** Pause, go on, send nothing more: updates of the running workflow, with the reason that its history keeps. */
export function operationsForm(
  { texts: { operations }, action: actionOf }: PageFormat,
  { batchId, watch }: OperationsForm,
): Html {
  const action = actionOf(`/batches/${encodeURIComponent(batchId)}/operations`);
  const waits = watch.waitingFor === null ? html`` : html`<p>${operations.waitingFor} ${watch.waitingFor}</p>`;
  if (watch.cancelled) return html`<p>${operations.done.cancelRemaining}</p>${waits}`;
  return html`<section class="card" aria-label="${operations.title}">
    ${watch.paused ? html`<p><strong>${operations.paused}</strong></p>` : ''} ${waits}
    ${
      watch.paused
        ? html`<form action="${action}" method="post">
            <button class="main" name="kind" value="resume">${operations.resume}</button>
          </form>`
        : html`<form action="${action}" method="post">
            ${reasonField(operations, 'pause-reason')}
            <button name="kind" value="pause">${operations.pause}</button>
          </form>`
    }
    <form action="${action}" method="post">
      <button name="kind" value="settleNow">${operations.settleNow}</button>
    </form>
    <details>
      <summary>${operations.cancel}</summary>
      <form action="${action}" method="post">
        <p>${operations.cancelNote}</p>
        ${reasonField(operations, 'cancel-reason')}
        <button class="danger" name="kind" value="cancelRemaining">${operations.cancel}</button>
      </form>
    </details>
    <p class="soft">${operations.reasonNote}</p>
  </section>`;
}
