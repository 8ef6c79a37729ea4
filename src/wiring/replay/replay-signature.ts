import type { ReplayedPlace } from '../../domain/ports/replay.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { headerLines } from '../../webhooks/header-lines.ts';
import type { DeliveryRecording } from '../recordings/recording.ts';

type Scheme = ServiceProfile['signature'];

/** What is known of the signature of a recorded delivery. */
export interface JudgedSignature {
  /** null: nobody can know, since the recorded bytes are masked. */
  readonly understood: boolean | null;
  readonly says: string;
  readonly places: readonly ReplayedPlace[];
}

/** The parts of a scheme that decide, by kind. */
const DECIDING: Readonly<Record<Scheme['kind'], readonly (keyof Scheme)[]>> = {
  hmac: ['kind', 'header', 'algorithm', 'encoding', 'prefix', 'separator', 'signed', 'timestamp', 'secret'],
  token: ['kind', 'header', 'prefix'],
  basic: ['kind'],
  path: ['kind'],
};

/** Judges by the verdict of then: it holds for the scheme under which it was found, and for no other. */
export function judgeSignature({ headers, signature }: DeliveryRecording, scheme: Scheme): JudgedSignature {
  const header = headerOf(scheme);
  const lines = header === null ? [] : headerLines(headers, header);
  const places: readonly ReplayedPlace[] =
    header === null
      ? []
      : [{ setting: 'signature.header', place: header, value: lines.length === 0 ? null : `${lines.length} of it` }];
  if (header !== null && lines.length === 0)
    return { understood: false, says: `no header ${header} (signature.header)`, places };
  if (signature === null) return { understood: null, says: 'its signature was not judged', places };
  const other = DECIDING[scheme.kind].filter((key) => !isSame(signature.scheme[key], scheme[key]));
  if (other.length === 0)
    return signature.refusal === null
      ? { understood: true, says: 'its signature held', places }
      : { understood: false, says: `its signature did not hold (${signature.refusal})`, places };
  const settings = other.map((key) => `signature.${key}`).join(', ');
  return signature.refusal === null
    ? { understood: false, says: `its signature held by another ${settings} than the profile says`, places }
    : { understood: null, says: `its signature was judged by another ${settings}`, places };
}

function headerOf({ kind, header }: Scheme): string | null {
  if (kind === 'path') return null;
  return kind === 'basic' ? 'Authorization' : header;
}

function isSame(one: unknown, other: unknown): boolean {
  if (typeof one === 'string' && typeof other === 'string') return one.toLowerCase() === other.toLowerCase();
  return JSON.stringify(one) === JSON.stringify(other);
}
