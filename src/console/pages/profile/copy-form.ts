import { html } from 'hono/html';
import type { PageFormat } from '../page-format.ts';
import type { Html } from '../page-layout.ts';

/** A copy of the profile that is edited. */
export interface CopyForm {
  readonly text: string;
  /** How it may be kept as a file; null: it is to be checked first. */
  readonly keep: KeepFields | null;
}

/** What is asked when a copy is kept. */
export interface KeepFields {
  readonly name: string;
  /** This process may write it; else it can be downloaded. */
  readonly here: boolean;
  /** It understands less of the recorded answers, which must be accepted. */
  readonly understandsLess: boolean;
}

/** The longest name of a saved profile. */
export const LONGEST_NAME = 64;

/** The text of a copy with the buttons that check it and keep it. One form, so that what is kept is what is read here. */
export function copyForm({ texts: { profilePage: texts }, action }: PageFormat, { text, keep }: CopyForm): Html {
  // A browser drops a newline that follows the tag at once; one is put there so that none of the text is dropped.
  return html`<form action="${action('/profile/check')}" method="post" enctype="multipart/form-data">
    <p class="soft" id="edit-note">${texts.editNote}</p>
    <label for="profile-text">${texts.text}</label>
    <textarea
      id="profile-text"
      name="profile"
      spellcheck="false"
      autocomplete="off"
      autocapitalize="off"
      aria-describedby="edit-note"
    >
${text}</textarea
    >
    <button class="main">${texts.check}</button>
    ${keep === null ? '' : keepFields(texts, keep, action)}
  </form>`;
}

function keepFields(
  texts: PageFormat['texts']['profilePage'],
  { name, here, understandsLess }: KeepFields,
  action: PageFormat['action'],
): Html {
  return html`<fieldset>
    <h2>${texts.keep}</h2>
    ${
      understandsLess
        ? html`<p><strong>${texts.understandsLess}</strong></p>
            <label class="choice"
              ><input type="checkbox" name="acceptsLess" value="yes" /> ${texts.acceptsLess}</label
            >`
        : ''
    }
    <label for="profile-name">${texts.name}</label>
    <input
      id="profile-name"
      name="name"
      value="${name}"
      maxlength="${LONGEST_NAME}"
      autocomplete="off"
      aria-describedby="name-note"
    />
    <p class="soft" id="name-note">${texts.nameNote}</p>
    <div class="row">
      ${here ? html`<button formaction="${action('/profile/save')}">${texts.keepButton}</button>` : ''}
      <button formaction="${action('/profile/download')}">${texts.download}</button>
    </div>
  </fieldset>`;
}
