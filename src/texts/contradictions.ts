import type { Contradiction } from '../domain/invoice-state.ts';
import type { Language } from './languages.ts';

/** Sentences about issued invoices in doubt, by language: what the doubt is, what to do, and what the service did. */
export const CONTRADICTION_TEXTS: Readonly<
  Record<Language, { readonly sentence: string; readonly flags: Readonly<Record<Contradiction, string>> }>
> = {
  en: {
    sentence:
      '{n} [invoice|invoices] went out and [is|are] in doubt: [it|each] may exist twice at the service, or have failed there. Look [it|them] up at the service, and do not send [it|them] again.',
    flags: {
      'second-service-id': 'The service accepted a second document of this invoice: it may exist twice.',
      'shared-service-id': 'The service named its id for another invoice, too: it may have another document.',
      'issued-in-earlier-generation': 'The service issued another document of this invoice, too: it exists twice.',
      'failed-after-issued': 'The service said that it was issued, and then that it failed.',
    },
  },
  pt: {
    sentence:
      '{n} [fatura foi emitida|faturas foram emitidas], mas [está|estão] em dúvida:[| cada uma] pode existir duas vezes no serviço, ou ter lá falhado. [Confirme-a|Confirme-as] no serviço e não [a|as] envie de novo.',
    flags: {
      'second-service-id': 'O serviço aceitou um segundo documento desta fatura: ela pode existir duas vezes.',
      'shared-service-id': 'O serviço indicou o id dela também para outra fatura: pode ter outro documento.',
      'issued-in-earlier-generation': 'O serviço emitiu também outro documento desta fatura: ela existe duas vezes.',
      'failed-after-issued': 'O serviço disse que foi emitida e, depois, que falhou.',
    },
  },
  es: {
    sentence:
      '{n} [factura|facturas] se [emitió|emitieron], pero [está|están] en duda:[| cada una] puede existir dos veces en el servicio, o haber fallado allí. [Compruébela|Compruébelas] en el servicio y no [la|las] envíe de nuevo.',
    flags: {
      'second-service-id': 'El servicio aceptó un segundo documento de esta factura: puede existir dos veces.',
      'shared-service-id': 'El servicio indicó su id también para otra factura: puede tener otro documento.',
      'issued-in-earlier-generation': 'El servicio emitió también otro documento de esta factura: existe dos veces.',
      'failed-after-issued': 'El servicio dijo que se emitió y, después, que falló.',
    },
  },
};
