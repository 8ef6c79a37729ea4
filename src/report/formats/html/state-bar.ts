import { wentOut, type Outcome } from '../../../domain/invoice-state.ts';
import { html, type SafeHtml } from './html.ts';
import type { ReportCounts } from '../../report-model.ts';
import { STATE_ORDER } from '../../doers.ts';
import type { ReportFormat } from '../../texts/report-format.ts';

/** The bar's own unit: wide enough that one invoice of ten thousand is a tenth of a unit and still drawn. */
const WIDTH = 1000;
/** Thinner parts cannot be seen; what a part says exactly stands in the legend. */
const THINNEST = 3;

/** How a state is meant: done, under way, open for somebody, or wrong. */
export function toneOf(state: Outcome): 'good' | 'under-way' | 'open' | 'bad' {
  if (wentOut(state)) return 'good';
  if (state === 'staged' || state === 'sending' || state === 'accepted') return 'under-way';
  return state === 'held' || state === 'unknown' || state === 'unsettled' ? 'open' : 'bad';
}

/** A bar of all states with a legend of their counts; colours never tell alone. */
export function stateBar(counts: ReportCounts, { texts, count }: ReportFormat): SafeHtml {
  const present = STATE_ORDER.filter((state) => counts[state] > 0);
  if (present.length === 0) return html``;
  const label = present.map((state) => `${state} ${counts[state]}`).join(', ');
  return html`<svg class="bar" role="img" aria-label="${label}" viewBox="0 0 ${WIDTH} 10" preserveAspectRatio="none">
      ${bars(present, counts)}
    </svg>
    <ul class="legend">
      ${present.map((state) => html`<li><span class="state ${toneOf(state)}">${state}</span> <strong>${count(counts[state])}</strong> <span class="soft">${texts.states[state].label}</span></li>`)}
    </ul> `;
}

function bars(present: readonly Outcome[], counts: ReportCounts): readonly SafeHtml[] {
  const wanted = present.map((state) => Math.max(THINNEST, (counts[state] / counts.invoices) * WIDTH));
  const scale = WIDTH / wanted.reduce((sum, width) => sum + width, 0);
  let x = 0;
  return present.map((state, index) => {
    const width = (wanted[index] ?? 0) * scale;
    const bar = html`<rect
      class="${toneOf(state)}"
      x="${x.toFixed(1)}"
      y="0"
      width="${Math.max(1, width - 1).toFixed(1)}"
      height="10"
      ><title>${state}: ${counts[state]}</title></rect
    >`;
    x += width;
    return bar;
  });
}
