import type { Plural } from '../../texts/plural.ts';

/** What a reader sees who looks for an invoice and follows its life. */
export interface LookupTexts {
  readonly search: {
    readonly title: string;
    readonly label: string;
    /** The same, short enough for a narrow field. */
    readonly hint: string;
    readonly button: string;
    readonly more: string;
    readonly net: string;
    readonly from: string;
    readonly to: string;
    readonly dateNote: string;
    readonly notAmount: string;
    readonly notDate: string;
    readonly readAs: string;
    readonly nothing: string;
    readonly found: Plural;
    readonly parts: string;
    readonly looked: Plural;
    readonly goOn: string;
    readonly read: string;
    readonly save: string;
    readonly saveView: string;
    readonly csv: string;
    readonly xlsx: string;
  };
  readonly life: {
    readonly read: Plural;
    readonly frozen: string;
    readonly tried: string;
    readonly firstSent: string;
    readonly accepted: string;
    readonly webhook: string;
    readonly saidByGet: string;
    readonly settled: string;
    readonly last: string;
    readonly asked: Plural;
    readonly risk: string;
    readonly byHand: string;
    readonly source: string;
    readonly sources: {
      readonly file: string;
      readonly lote: string;
      readonly service: string;
      readonly webhook: string;
      readonly person: string;
    };
  };
}
