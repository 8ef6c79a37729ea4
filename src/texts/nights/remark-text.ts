import type { NightlyRemark } from '../../domain/ports/run-log.ts';
import { CONTRADICTION_TEXTS } from '../contradictions.ts';
import { fill } from '../fill.ts';
import { plainText } from '../plain-text.ts';
import type { SpeechFormat } from '../speech-format.ts';
import { NIGHT_TEXTS } from './night-catalogue.ts';

/** A remark about a dropped file as a sentence. What another part of Lote said of it stays in English. */
export function remarkText({ language, plural, time }: SpeechFormat, remark: NightlyRemark): string {
  const { remarks } = NIGHT_TEXTS[language];
  switch (remark.kind) {
    case 'dropped-before':
      return fill(remarks[remark.kind], { time: time(remark.at), file: plainText(remark.file) });
    case 'run-failed':
      return fill(remarks[remark.kind], { code: remark.code, message: remark.message });
    case 'held':
      return fill(remarks[remark.kind], { difference: remark.difference });
    case 'confirm-total':
      return fill(remarks[remark.kind], { command: remark.command });
    case 'missing': {
      const sentence = plural(remarks[remark.kind], remark.n, remark.of);
      return remark.cancelled ? `${remarks.cancelled} ${sentence}` : sentence;
    }
    case 'contradicted':
      return plural(CONTRADICTION_TEXTS[language].sentence, remark.n);
    case 'all-out':
    case 'rows-without-invoice':
      return plural(remarks[remark.kind], remark.n);
    default:
      return remarks[remark.kind];
  }
}
