import type { ComparedRow, RecordedAnswers, RecordedValue, ReplayComparison } from '../../console/profile-editor.ts';
import type { Replay, ReplayRow } from '../../domain/ports/replay.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import type { Recording } from '../recordings/recording.ts';
import { replay } from '../replay/replay.ts';
import type { Recordings } from './profile-editor.ts';

/** Of one operation: a page that reads more takes long, and older ones say the same. */
const NEWEST = 200;
const CHANGES_SHOWN = 50;

type Change = ComparedRow['change'];

/** How much a record says through a profile: nothing that can be read, nothing that would have to be read, all of it. */
const RANKS = { no: 0, none: 1, yes: 2 } as const;

/** What the recorded answers say, through a profile or two. `read`: the records as that profile names them, at most once at a time. */
export function createRecordings(read: (profile: ServiceProfile) => Promise<readonly Recording[]>): Recordings {
  const inForce = onceAtATime(async (profile: ServiceProfile) => {
    const recordings = newest(await read(profile));
    return { recordings, said: recordings.length === 0 ? null : await replay(profile, recordings) };
  });
  return {
    async recorded(profile) {
      const { recordings, said } = await inForce(profile);
      return said === null ? null : answersOf(recordings.length, said);
    },
    async compare(profile, copy) {
      const { said } = await inForce(profile);
      if (said === null) return null;
      return compared(said, await replay(copy, newest(await read(copy))));
    },
  };
}

/** The newest of each operation, so that the many of one leave room for the few of another. */
function newest(recordings: readonly Recording[]): readonly Recording[] {
  const taken = new Map<string, number>();
  return recordings
    .toSorted((one, other) => other.at - one.at)
    .filter((recording) => {
      const operation = recording.kind === 'delivery' ? 'delivery' : (recording.operation ?? 'other');
      const number = (taken.get(operation) ?? 0) + 1;
      taken.set(operation, number);
      return number <= NEWEST;
    })
    .toReversed();
}

/** Who asks while an answer is on its way gets that answer. */
function onceAtATime<T>(work: (profile: ServiceProfile) => Promise<T>): (profile: ServiceProfile) => Promise<T> {
  const running = new Map<ServiceProfile, Promise<T>>();
  return async (profile) => {
    const known = running.get(profile);
    if (known !== undefined) return known;
    const started = work(profile).finally(() => running.delete(profile));
    running.set(profile, started);
    return started;
  };
}

/** At each setting the newest record that was read there. */
function answersOf(count: number, { rows }: Replay): RecordedAnswers {
  const byKey = new Map<string, RecordedValue>();
  for (const { record, at, places } of rows.toSorted((one, other) => one.at - other.at))
    for (const { setting, value } of places) byKey.set(setting, { value, record, at });
  return { count, byKey };
}

function compared(before: Replay, after: Replay): ReplayComparison {
  const records = recordChanges(before.rows, after.rows);
  const findings = findingChanges(before, after);
  const changes = [...records, ...findings].toSorted((one, other) => weight(one) - weight(other));
  return {
    rows: [...summaryRows(before, after, records), ...changes.slice(0, CHANGES_SHOWN)].map(({ row }) => row),
    understandsLess: changes.some(({ row }) => row.change === 'worse'),
  };
}

interface Changed {
  readonly operation: string | null;
  readonly row: ComparedRow;
}

/** The worst first. */
function weight({ row }: Changed): number {
  return ['worse', 'other', 'better', 'same'].indexOf(row.change);
}

function recordChanges(before: readonly ReplayRow[], after: readonly ReplayRow[]): readonly Changed[] {
  const [was, is] = [byRecord(before), byRecord(after)];
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((record) => {
    const [one, other] = [was.get(record), is.get(record)];
    const inForce = one?.says ?? '';
    const copy = other?.says ?? '';
    const [rankBefore, rankAfter] = [one?.rank ?? RANKS.no, other?.rank ?? RANKS.no];
    if (rankBefore === rankAfter && inForce === copy) return [];
    const change: Change = rankAfter > rankBefore ? 'better' : rankAfter < rankBefore ? 'worse' : 'other';
    return [{ operation: one?.operation ?? null, row: { what: record, inForce, copy, change } }];
  });
}

/** A delivery of several events has several rows: it is understood when all of them are. */
function byRecord(rows: readonly ReplayRow[]) {
  const records = new Map<
    string,
    { readonly operation: string | null; readonly rank: number; readonly says: string }
  >();
  for (const { record, operation, understood, says } of rows) {
    const rank = understood === null ? RANKS.none : understood ? RANKS.yes : RANKS.no;
    const known = records.get(record);
    records.set(record, {
      operation,
      rank: Math.min(rank, known?.rank ?? rank),
      says: known === undefined ? says : `${known.says}; ${says}`,
    });
  }
  return records;
}

/** What several records show together: a new trouble is worse, and one that is gone is better. */
function findingChanges(before: Replay, after: Replay): readonly Changed[] {
  const messages = ({ findings }: Replay): readonly string[] => findings.map(({ message }) => message);
  const changed = (message: string, isNew: boolean): Changed => {
    const [inForce, copy, change] = isNew ? (['', message, 'worse'] as const) : ([message, '', 'better'] as const);
    return { operation: null, row: { what: '', inForce, copy, change } };
  };
  return [
    ...messages(after)
      .filter((message) => !messages(before).includes(message))
      .map((message) => changed(message, true)),
    ...messages(before)
      .filter((message) => !messages(after).includes(message))
      .map((message) => changed(message, false)),
  ];
}

function summaryRows(before: Replay, after: Replay, changes: readonly Changed[]): readonly Changed[] {
  const operations = [...new Set([...before.summary, ...after.summary].map(({ operation }) => operation))];
  return operations.flatMap((operation) => {
    if (operation === null) return [];
    const own = changes.filter((one) => one.operation === operation).map(({ row }) => row.change);
    const change: Change = own.includes('worse')
      ? 'worse'
      : own.includes('better')
        ? 'better'
        : own.length > 0
          ? 'other'
          : 'same';
    return [
      {
        operation,
        row: {
          what: operation,
          inForce: understoodOf(before, operation),
          copy: understoodOf(after, operation),
          change,
        },
      },
    ];
  });
}

function understoodOf({ summary }: Replay, operation: string): string {
  const found = summary.find((one) => one.operation === operation);
  return found === undefined ? '0' : `${found.understood} of ${found.records} understood`;
}
