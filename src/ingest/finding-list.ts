import type { Finding } from '../domain/invoice.ts';

/** A file of a million wrong rows must not become a million findings in memory; the rest is counted. */
const MOST_FINDINGS = 1000;

/** Findings of one file, bounded. */
export class FindingList {
  readonly #kept: Finding[] = [];
  #more = 0;

  add(finding: Finding): void {
    if (this.#kept.length < MOST_FINDINGS) this.#kept.push(finding);
    else this.#more += 1;
  }

  all(): readonly Finding[] {
    if (this.#more === 0) return this.#kept;
    const message = `${this.#more} more findings of this file are not listed. Correct those above and check the file again`;
    return [...this.#kept, { row: null, column: null, code: 'findings-omitted', message, severity: 'warning' }];
  }
}
