import { html } from 'hono/html';
import type { AuditEntry } from '../../../domain/ports/ledger/operating-ledger.ts';
import type { ProfileMisfit } from '../../../domain/profile-misfit.ts';
import type { RecordedAnswers, ShownSection } from '../../profile-editor.ts';
import { fill } from '../../../texts/fill.ts';
import { auditCells, auditHeadings } from '../audit-cells.ts';
import type { PageFormat } from '../page-format.ts';
import type { Html } from '../page-layout.ts';
import { misfitNote } from '../misfit-note.ts';
import { copyForm } from './copy-form.ts';
import { sectionTable, sectionTitle } from './section-table.ts';

/** What the page of the service profile shows. */
export interface ProfilePage {
  /** Address of the service; null: this process does not know it. */
  readonly baseUrl: string | null;
  readonly sections: readonly ShownSection[];
  /** The text that is edited; null: nothing can be edited here. */
  readonly copy: string | null;
  /** What was found that does not fit the service. */
  readonly misfits: readonly ProfileMisfit[];
  /** Null: nothing is recorded. */
  readonly recorded: RecordedAnswers | null;
  /** Path of the copy that has just been saved. */
  readonly saved: string | null;
  readonly audit: readonly AuditEntry[];
}

/** Whoever writes a secret into an address where none belongs must not find it on a page. */
const CREDENTIALS = /\/\/[^/@\s]*@/u;

/** The service profile in force, setting by setting, and a copy of it to edit. */
export function profilePage(format: PageFormat, page: ProfilePage): Html {
  const { texts, plural } = format;
  const { baseUrl, sections, copy, recorded } = page;
  return html`<h1>${texts.profile}</h1>
    ${page.saved === null ? '' : savedNote(format, page.saved)}
    <p>${texts.profilePage.intro}</p>
    ${misfitNote(format, page.misfits)}
    ${baseUrl === null ? '' : html`<p>${texts.profilePage.service} <code>${baseUrl.replace(CREDENTIALS, '//•••@')}</code></p>`}
    <p>${recorded === null ? texts.profilePage.nothingRecorded : plural(texts.profilePage.recorded, recorded.count)}</p>
    <ul class="plain">
      ${sections.map(({ name }) => html`<li><a href="#section-${name}">${sectionTitle(texts, name)}</a></li>`)}
      ${copy === null ? '' : html`<li><a class="button" href="#edit">${texts.profilePage.edit}</a></li>`}
    </ul>
    ${sections.map((section) => sectionTable(format, section, recorded?.byKey ?? null))}
    ${
      copy === null
        ? ''
        : html`<section class="card" id="edit" aria-labelledby="edit-title">
            <h2 id="edit-title">${texts.profilePage.edit}</h2>
            ${copyForm(format, { text: copy, keep: null })}
          </section>`
    }
    ${keptCopies(format, page.audit)}`;
}

function savedNote({ texts: { profilePage: texts } }: PageFormat, file: string): Html {
  return html`<div class="done" role="status">
    <p>${fill(texts.saved, { file })}</p>
    <p>${fill(texts.next, { file })}</p>
  </div>`;
}

function keptCopies(format: PageFormat, audit: readonly AuditEntry[]): Html {
  const { texts } = format;
  if (audit.length === 0) return html``;
  return html`<h2>${texts.profilePage.keptCopies}</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="${texts.profilePage.keptCopies}">
      <table>
        <thead>
          <tr>
            ${auditHeadings(format)}
          </tr>
        </thead>
        <tbody>
          ${audit.map(
            (entry) =>
              html`<tr>
                ${auditCells(format, entry)}
                <td class="text">${entry.why}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}
