import type { ComparedRow, KeepRefusal } from '../profile-editor.ts';
import type { Plural } from '../../texts/plural.ts';

/** Names of the sections of a service profile; `general` holds what stands in none. */
export type ProfileSectionName =
  | 'general'
  | 'requests'
  | 'answers'
  | 'error'
  | 'invoice'
  | 'merchants'
  | 'webhook'
  | 'signature'
  | 'event'
  | 'idempotency'
  | 'limits'
  | 'retry';

/** What an operator reads who looks at the service profile, or edits a copy of it. What a setting means is in the schema, in English. */
export interface ProfileTexts {
  readonly profilePage: {
    readonly intro: string;
    readonly service: string;
    readonly sections: Readonly<Record<ProfileSectionName, string>>;
    readonly meaning: string;
    readonly changed: string;
    readonly byDefault: string;
    readonly example: string;
    readonly wholeBody: string;
    readonly parts: string;
    readonly lastAnswer: string;
    readonly nothingThere: string;
    readonly recorded: Plural;
    readonly nothingRecorded: string;
    readonly edit: string;
    readonly editNote: string;
    readonly text: string;
    readonly check: string;
    readonly back: string;
    readonly checkTitle: string;
    readonly mistakes: Plural;
    readonly moreMistakes: Plural;
    readonly valid: string;
    readonly same: string;
    readonly differs: Plural;
    readonly line: string;
    readonly wrong: string;
    readonly meant: string;
    readonly inForce: string;
    readonly copy: string;
    readonly replay: string;
    readonly answers: string;
    readonly change: string;
    readonly changes: Readonly<Record<ComparedRow['change'], string>>;
    readonly understandsLess: string;
    readonly acceptsLess: string;
    readonly keep: string;
    readonly name: string;
    readonly nameNote: string;
    readonly keepButton: string;
    readonly download: string;
    readonly saved: string;
    readonly next: string;
    readonly refusals: Readonly<Record<KeepRefusal, string>>;
    readonly keptCopies: string;
  };
}
