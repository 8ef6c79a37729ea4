import { html } from 'hono/html';
import { ANY_APPLICATION, applicationWords } from '../../domain/text/command-line.ts';
import type { ConsoleOptions } from '../console-options.ts';
import type { PageFormat } from '../pages/page-format.ts';
import type { Html } from '../pages/page-layout.ts';

/** Of several applications, the one that the reader has chosen. */
export interface ApplicationFilter {
  readonly names: readonly string[];
  /** Null: all of them. */
  readonly chosen: string | null;
}

/** What the address of a page asks for; a name that nobody has asks for all. Null: there is one application. */
export function applicationFilter(
  { applications: names }: Pick<ConsoleOptions, 'applications'>,
  asked: string | undefined,
): ApplicationFilter | null {
  if (names === undefined) return null;
  return { names, chosen: names.find((name) => name === asked) ?? null };
}

/** Shows the chosen application's alone. */
export function applicationFilterForm({ texts }: PageFormat, filter: ApplicationFilter, action: string): Html {
  return html`<form action="${action}" method="get">
    <label for="application">${texts.application}</label>
    <select id="application" name="application">
      <option value="">${texts.all}</option>
      ${filter.names.map((name) => html`<option value="${name}" ${name === filter.chosen ? 'selected' : ''}>${name}</option>`)}
    </select>
    <button>${texts.filter}</button>
  </form>`;
}

/** What a command on a page needs behind it to be for the reader's application; nothing where there is one. */
export function commandEnd(filter: ApplicationFilter | null): string {
  return applicationWords({ application: filter?.chosen ?? ANY_APPLICATION, isOneOfSeveral: filter !== null });
}
