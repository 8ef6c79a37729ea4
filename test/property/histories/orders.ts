import type { Answer, Status } from '../../../src/domain/machine/invoice-answers.ts';
import { type Command, decide } from '../../../src/domain/machine/invoice-machine.ts';
import type { Invoice, Life } from './life.ts';
import { Broken } from './promises.ts';
import { withEvent } from './service.ts';
import { answerOf } from './workers.ts';

/** One thing that is said of a document. */
type Word =
  | { readonly kind: 'answer'; readonly command: Command }
  | { readonly kind: 'event'; readonly verdict: 'issued' | 'failed' }
  | { readonly kind: 'status'; readonly status: Status };

/** Flags that name the one contradiction of `issued` and `failed`: which of them it is says what came first. */
const CONTRADICTIONS: readonly string[] = ['issued-after-failed', 'failed-after-issued'];

/** What is said of a document in any order ends alike; a document without a final word is asked for until it has one. */
export function expectAnyOrder(life: Life): void {
  const { random, attempts, invoice, service, now } = life;
  const { generation } = invoice;
  const answered = attempts.find((one) => one.outcome?.kind === 'accepted' && one.generation === generation);
  const named = answered?.outcome?.kind === 'accepted' ? service.named(answered.outcome.serviceId) : undefined;
  if (named === undefined || answered?.earlier !== undefined) return;
  const { serviceId } = named;
  const verdict = (): 'issued' | 'failed' => (random.once(2) ? 'issued' : 'failed');
  const status: Status = { serviceId, status: verdict(), reason: null, now };
  const words: readonly Word[] = [
    ...attempts
      .filter((one) => one.generation === generation && one.earlier === undefined)
      .flatMap(({ outcome, ...one }) =>
        outcome === null || isOfAnother(life, outcome)
          ? []
          : [{ kind: 'answer' as const, command: answerOf(life, one, outcome) }],
      ),
    { kind: 'event', verdict: verdict() },
    ...(random.once(2) ? [{ kind: 'event' as const, verdict: verdict() }] : []),
    { kind: 'status', status },
  ];
  const [one, other] = [ending(life, words, status), ending(life, shuffled(life, words), status)];
  if (one !== other) throw new Broken('order', `${one}, or ${other}, of ${JSON.stringify(words)}`);
}

/** An answer that a proxy mixed up says nothing of this document. */
function isOfAnother({ service }: Life, outcome: Answer['outcome']): boolean {
  return outcome.kind === 'accepted' && service.named(outcome.serviceId) === undefined;
}

function shuffled({ random }: Life, words: readonly Word[]): readonly Word[] {
  const left = [...words];
  return words.map(() => left.splice(random.below(left.length), 1)[0] as Word);
}

function ending({ invoice, service }: Life, words: readonly Word[], last: Status): string {
  let said = service.saidOf(last.serviceId);
  let current = invoice;
  const order = (command: Command): void => {
    const decided = decide(current, command);
    if ('refusal' in decided) return;
    const kept = [
      ...current.kept.filter((one) => !decided.kept?.some((new_) => new_.generation === one.generation)),
      ...(decided.kept ?? []),
    ];
    current = heard({ ...current, ...decided.invoice, kept });
  };
  const heard = (one: Invoice): Invoice => ({
    ...one,
    said: one.serviceId === last.serviceId ? said : service.saidOf(one.serviceId),
    kept: one.kept.map((kept) => (kept.serviceId === last.serviceId ? { ...kept, said } : kept)),
  });
  for (const word of words) {
    if (word.kind === 'event') {
      said = withEvent(said, word.verdict, last.now);
      current = heard(current);
    }
    if (word.kind === 'answer') order(word.command);
    order({ kind: 'hear', statuses: word.kind === 'status' ? [word.status] : [] });
  }
  order({ kind: 'hear', statuses: [last] });
  const flags = new Set(current.flags.map((flag) => (CONTRADICTIONS.includes(flag) ? 'contradiction' : flag)));
  return [current.state, current.serviceId, ...[...flags].toSorted()].join(' ');
}
