import { html } from 'hono/html';
import type { PageFormat } from '../pages/page-format.ts';
import type { Html } from '../pages/page-layout.ts';

/** Choose a file and have it checked; works without JavaScript. */
export function uploadForm({ texts: { upload }, action }: PageFormat): Html {
  return html`<form class="card" action="${action('/files')}" method="post" enctype="multipart/form-data">
    <label for="file">${upload.choose}</label>
    <div class="row">
      <input id="file" type="file" name="file" required accept=".csv,.tsv,.txt,.json,.ndjson,.jsonl,.xlsx,.xlsm,.ods" />
      <button class="main">${upload.button}</button>
    </div>
    <p class="soft">${upload.promise}</p>
  </form>`;
}
