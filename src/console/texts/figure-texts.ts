import type { Fate, MoneyPart } from '../figures/night-figures.ts';
import type { Plural } from '../../texts/plural.ts';

/** The words of pictures: the last nights, and a batch that runs. */
export interface FigureTexts {
  readonly figures: {
    readonly title: string;
    readonly note: string;
    readonly none: string;
    readonly without: Plural;
    readonly cut: string;
    readonly outcomes: string;
    readonly fates: Readonly<Record<Fate, string>>;
    readonly amount: string;
    readonly money: Readonly<Record<MoneyPart, string>>;
    readonly below: string;
    readonly settling: string;
    readonly median: string;
    readonly most: string;
    readonly upTo: string;
    readonly reasons: string;
    readonly otherReasons: string;
    readonly table: string;
    readonly reasonTable: string;
  };
  readonly pace: {
    readonly title: string;
    readonly sent: string;
    readonly settled: string;
    readonly rate: string;
    readonly left: string;
    readonly notMoving: string;
    readonly unknown: string;
    readonly table: string;
    readonly note: string;
  };
}
