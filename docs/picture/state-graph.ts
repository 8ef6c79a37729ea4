import type { InvoiceState } from '../../src/domain/invoice-state.ts';

interface Transition {
  readonly from: readonly InvoiceState[];
  readonly to: InvoiceState;
}

/** Every move of the machine, with its name in `docs/architecture.md`; a property of the machine proves that it makes no other. */
export const TRANSITIONS = {
  /** Bytes and key are written down; from here on a POST may be on the wire. */
  freeze: { from: ['staged'], to: 'sending' },
  /** The attempt that froze it has POSTed nothing of it, and no other attempt has taken it. */
  unfreeze: { from: ['sending'], to: 'staged' },
  /** The service gave an `inv_` id. */
  accept: { from: ['sending', 'unknown'], to: 'accepted' },
  /** The service refused for good, and no earlier answer of this generation was lost. */
  refuse: { from: ['sending'], to: 'rejected' },
  /** It may have reached the service, and no answer proves what became of it; retries are spent. */
  lose: { from: ['sending'], to: 'unknown' },
  /** Not sent, or every try was proved not to have reached the service. */
  hold: { from: ['staged', 'sending'], to: 'held' },
  /** An operator or the next run lets it go; nothing of this generation reached the service. */
  release: { from: ['held'], to: 'staged' },
  /** The service said issued, in a webhook or in a GET. It wins over everything. */
  issue: { from: ['accepted', 'unsettled', 'failed'], to: 'issued' },
  /**
   * The service issued an earlier generation of the same content after all, and this one never left, or has no living
   * document.
   */
  revive: { from: ['staged', 'sending', 'held', 'failed', 'rejected'], to: 'issued' },
  /** The service said failed and a GET did not contradict. */
  fail: { from: ['accepted', 'unsettled'], to: 'failed' },
  /** The settle time is over and there is no final word. */
  expire: { from: ['accepted'], to: 'unsettled' },
  /** Reconciliation repeats it: same key, same bytes, inside the retention window. */
  repeat: { from: ['unknown'], to: 'sending' },
  /** A definitive no; the next generation gets a new key. By retry policy, operator, or corrected content. */
  regenerate: { from: ['failed', 'rejected'], to: 'staged' },
  /**
   * Its batch is closed without having sent it, and a later file brings other content: the next generation gets a new
   * key.
   */
  replace: { from: ['staged', 'held'], to: 'staged' },
  /** An operator accepts the risk of a duplicate after the retention window; recorded in the audit. */
  abandon: { from: ['unknown'], to: 'staged' },
} as const satisfies Record<string, Transition>;

/** Name of one move of the state machine in `docs/architecture.md`, such as `freeze` or `accept`. */
export type TransitionName = keyof typeof TRANSITIONS;

interface Place {
  readonly x: number;
  readonly y: number;
}

const BOX = { width: 96, height: 30 };

/** Where each state stands; a state without a place does not compile. */
const PLACES: Readonly<Record<InvoiceState, Place>> = {
  staged: { x: 110, y: 60 },
  sending: { x: 350, y: 60 },
  accepted: { x: 610, y: 60 },
  issued: { x: 850, y: 60 },
  held: { x: 110, y: 190 },
  rejected: { x: 275, y: 190 },
  unknown: { x: 445, y: 190 },
  unsettled: { x: 610, y: 190 },
  failed: { x: 850, y: 190 },
};

const TONES: Readonly<Record<InvoiceState, string>> = {
  staged: 'under-way',
  sending: 'under-way',
  accepted: 'under-way',
  issued: 'good',
  held: 'open',
  unknown: 'open',
  unsettled: 'open',
  rejected: 'bad',
  failed: 'bad',
};

/** Moves that begin another life under a new key: they are led around the picture, along its bottom. */
const NEW_KEY: readonly TransitionName[] = ['regenerate', 'replace', 'abandon'];
/** Late answers about an earlier generation: led along the top, into `issued`. */
const LATE_NEWS: readonly TransitionName[] = ['revive'];
const TOP = 14;
const BOTTOM = 262;
const LEFT = 36;
/** Two moves between the same states, there and back, stand this far apart. */
const APART = 13;

/** States and moves. */
export function stateGraph(): string {
  const names = Object.keys(TRANSITIONS) as TransitionName[];
  const moves = names.flatMap((name) =>
    TRANSITIONS[name].from.map((from) => ({ name, from, to: TRANSITIONS[name].to })),
  );
  const straight = moves.filter(({ name }) => !NEW_KEY.includes(name) && !LATE_NEWS.includes(name));
  const lines = straight.map((move) =>
    arrow(move, straight.some(({ from, to }) => from === move.to && to === move.from) ? APART : 0),
  );
  const around = NEW_KEY.flatMap((name) => TRANSITIONS[name].from);
  const boxes = (Object.keys(PLACES) as InvoiceState[]).map((state) => box(state));
  const late = LATE_NEWS.flatMap((name) => TRANSITIONS[name].from);
  return [...lines, ...newKey(around), ...lateAnswers(late), ...boxes].join('\n');
}

function arrow({ name, from, to }: { name: string; from: InvoiceState; to: InvoiceState }, shift: number): string {
  const [a, b] = [PLACES[from], PLACES[to]];
  const length = Math.hypot(b.x - a.x, b.y - a.y);
  const [ux, uy] = [(b.x - a.x) / length, (b.y - a.y) / length];
  const side = { x: -uy * shift, y: ux * shift };
  const reach = Math.min(BOX.width / 2 / Math.max(Math.abs(ux), 0.01), BOX.height / 2 / Math.max(Math.abs(uy), 0.01));
  const start = { x: a.x + ux * reach + side.x, y: a.y + uy * reach + side.y };
  const end = { x: b.x - ux * (reach + 3) + side.x, y: b.y - uy * (reach + 3) + side.y };
  // Where lines cross, in the middle, their words would stand on each other.
  const middle = shift === 0 && (a.y === b.y || a.x === b.x) ? 0.5 : 0.36;
  const text = { x: start.x + (end.x - start.x) * middle, y: start.y + (end.y - start.y) * middle + 4 };
  return `<path class="move" marker-end="url(#tip)" d="M${at(start)}L${at(end)}"/>\n<text class="word" x="${round(text.x)}" y="${round(text.y)}">${name}</text>`;
}

function newKey(states: readonly InvoiceState[]): readonly string[] {
  const { x, y } = PLACES.staged;
  const ends = [...new Set(states.map((state) => PLACES[state].x))];
  const furthest = Math.max(...ends);
  return [
    ...ends.map((end) => `<path class="move new" d="M${end} ${PLACES.failed.y + BOX.height / 2}V${BOTTOM}"/>`),
    `<path class="move new" marker-end="url(#tip)" d="M${furthest} ${BOTTOM}H${LEFT}V${y}H${x - BOX.width / 2 - 3}"/>`,
    `<text class="word" x="${(furthest + x) / 2}" y="${BOTTOM + 4}">${NEW_KEY.join(', ')}: next generation, new key</text>`,
  ];
}

function lateAnswers(states: readonly InvoiceState[]): readonly string[] {
  const { x, y } = PLACES.issued;
  const up = states.map((state) => {
    const place = PLACES[state];
    // From the lower row: around the upper one, on the left.
    return place.y === y
      ? `M${place.x} ${place.y - BOX.height / 2}V${TOP}`
      : `M${place.x - BOX.width / 2} ${place.y}H${place.x - BOX.width / 2 - 10}V${TOP}`;
  });
  const from = Math.min(...states.map((state) => PLACES[state].x - (PLACES[state].y === y ? 0 : BOX.width / 2 + 10)));
  return [
    ...up.map((path) => `<path class="move new" d="${path}"/>`),
    `<path class="move new" marker-end="url(#tip)" d="M${from} ${TOP}H${x}V${y - BOX.height / 2 - 3}"/>`,
    `<text class="word" x="${(from + x) / 2 + 60}" y="${TOP + 4}">${LATE_NEWS.join(', ')}: an earlier life was issued after all</text>`,
  ];
}

function box(state: InvoiceState): string {
  const { x, y } = PLACES[state];
  const { width, height } = BOX;
  return `<rect class="state ${TONES[state]}" x="${x - width / 2}" y="${y - height / 2}" width="${width}" height="${height}" rx="15"/>\n<text class="name" x="${x}" y="${y + 5}">${state}</text>`;
}

function at({ x, y }: Place): string {
  return `${round(x)} ${round(y)}`;
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}
