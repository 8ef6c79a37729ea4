#!/bin/sh
# Writes corpus files with LibreOffice: libreoffice_files.sh FOLDER, in which openpyxl_files.py has written its files.
# Each CSV file is opened as a person of that locale opens it: cells that look like numbers become numbers.
set -eu
out=$1
work=$(mktemp -d)
header='invoice_ref;merchant_nif;customer_name;customer_tax_id;currency;description;quantity;unit_price;tax_code'

locale() { # name, number of the language, format, price, quantity
  printf '%s\r\n' "$header" "F1;501964843;Ana;508341272;EUR;Pão;1;$4;IVA_23" "F1;501964843;Ana;508341272;EUR;Bolo;$5;2;IVA_6" \
    "FT 2026/2;501964843;Zé & Filhos;;EUR;Café;12;$5;IVA_23" >"$work/libreoffice-$1.csv"
  soffice "-env:UserInstallation=file://$work/profile" --headless --infilter="CSV:59,34,76,1,,$2,false,true" \
    --convert-to "$3" --outdir "$out" "$work/libreoffice-$1.csv" >/dev/null 2>&1
}
locale pt-PT 2070 xlsx '1234,50' '0,5'
locale pt-BR 1046 ods '1.234,50' '0,5'
locale es-ES 3082 xlsx '1.234,50' '0,5'
locale fr-FR 1036 ods '1234,50' '0,5'
locale de-DE 1031 xlsx '1.234,50' '0,5'
locale en-US 1033 ods '1,234.50' '0.5'
locale it-IT 1040 xlsx '1.234,50' '0,5'
locale de-CH 2055 ods "1'234.50" '0.5'

# What the same program makes of files of another one: formulas get their values.
convert() { # file, format, new name
  cp "$out/$1" "$work/$3.${1##*.}"
  soffice "-env:UserInstallation=file://$work/profile" --headless --convert-to "$2" --outdir "$work/out" "$work/$3.${1##*.}" >/dev/null 2>&1
  cp "$work/out/$3.$2" "$out/$3.$2"
}
convert openpyxl-formulas-without-values.xlsx xlsx libreoffice-formulas
convert openpyxl-formulas-without-values.xlsx ods libreoffice-formulas
convert openpyxl-hidden.xlsx ods libreoffice-hidden
convert openpyxl-merged.xlsx ods libreoffice-merged
convert openpyxl-formats.xlsx ods libreoffice-formats
convert openpyxl-identity-as-number.xlsx ods libreoffice-identity-as-number
convert xlsxwriter-wrong-values.xlsx ods libreoffice-wrong-values
