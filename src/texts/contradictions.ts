import type { Contradiction } from '../domain/invoice-state.ts';
import type { Language } from './languages.ts';
import type { Plural } from './fill.ts';

/** What is said of invoices that went out and are in doubt. */
export interface ContradictionTexts {
  /** What it is, and what to do. */
  readonly sentence: Plural;
  /** What the service did. */
  readonly flags: Readonly<Record<Contradiction, string>>;
}

/** Sentences about invoices that went out and are in doubt, by language; report, console and nights share them. */
export const CONTRADICTION_TEXTS: Readonly<Record<Language, ContradictionTexts>> = {
  en: {
    sentence: {
      one: '{n} invoice went out and is in doubt: it may exist twice at the service, or have failed there. Look it up at the service, and do not send it again.',
      other:
        '{n} invoices went out and are in doubt: each may exist twice at the service, or have failed there. Look them up at the service, and do not send them again.',
    },
    flags: {
      'second-service-id': 'The service accepted a second document of this invoice: it may exist twice.',
      'shared-service-id': 'The service named its id for another invoice, too: it may have another document.',
      'issued-in-earlier-generation': 'The service issued another document of this invoice, too: it exists twice.',
      'failed-after-issued': 'The service said that it was issued, and then that it failed.',
    },
  },
  pt: {
    sentence: {
      one: '{n} fatura foi emitida, mas está em dúvida: pode existir duas vezes no serviço, ou ter lá falhado. Confirme-a no serviço e não a envie de novo.',
      other:
        '{n} faturas foram emitidas, mas estão em dúvida: cada uma pode existir duas vezes no serviço, ou ter lá falhado. Confirme-as no serviço e não as envie de novo.',
    },
    flags: {
      'second-service-id': 'O serviço aceitou um segundo documento desta fatura: ela pode existir duas vezes.',
      'shared-service-id': 'O serviço indicou o id dela também para outra fatura: pode ter outro documento.',
      'issued-in-earlier-generation': 'O serviço emitiu também outro documento desta fatura: ela existe duas vezes.',
      'failed-after-issued': 'O serviço disse que foi emitida e, depois, que falhou.',
    },
  },
  es: {
    sentence: {
      one: '{n} factura se emitió, pero está en duda: puede existir dos veces en el servicio, o haber fallado allí. Compruébela en el servicio y no la envíe de nuevo.',
      other:
        '{n} facturas se emitieron, pero están en duda: cada una puede existir dos veces en el servicio, o haber fallado allí. Compruébelas en el servicio y no las envíe de nuevo.',
    },
    flags: {
      'second-service-id': 'El servicio aceptó un segundo documento de esta factura: puede existir dos veces.',
      'shared-service-id': 'El servicio indicó su id también para otra factura: puede tener otro documento.',
      'issued-in-earlier-generation': 'El servicio emitió también otro documento de esta factura: existe dos veces.',
      'failed-after-issued': 'El servicio dijo que se emitió y, después, que falló.',
    },
  },
};
