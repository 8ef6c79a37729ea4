"""Writes corpus files with openpyxl, pandas, pyexcel-ods and pyexcelerate: python openpyxl_files.py FOLDER"""
import datetime, sys
from decimal import Decimal
import openpyxl
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.comments import Comment
from openpyxl.utils.datetime import CALENDAR_MAC_1904

out = sys.argv[1] + '/'
H = ['invoice_ref', 'merchant_nif', 'customer_name', 'customer_tax_id', 'currency', 'description', 'quantity', 'unit_price', 'tax_code']


def row(ref, nif='501964843', customer='Ana', tax='', currency='EUR', text='Pão', quantity=1, price=2.5, code='IVA_23'):
    return [ref, nif, customer, tax or None, currency, text, quantity, price, code]


def book(rows, title='Faturas', header=H):
    w = openpyxl.Workbook()
    s = w.active
    s.title = title
    s.append(header)
    for r in rows:
        s.append(r)
    return w, s


# Typed cells of every kind that is right.
w, s = book([row('F1'), row('F1', text='Bolo', quantity=2, price=1234.5), row('F2', quantity=0.5, price=Decimal('19.99')), row(1003, nif=501964843, tax=508341272, price=1000)])
w.save(out + 'openpyxl-typed.xlsx')

# Tax numbers and references that were turned into numbers.
w, s = book([row('F1', nif=1964843), row('F2', nif='501964843', tax=12345678), row('F3', tax=123456, price=7), row(1004.5), row(datetime.date(2026, 2, 1)), row(7, price=3), row(2**53 + 10), row('F8')])
s['D4'].number_format = '000000000'
s['A7'].number_format = '0000'
w.save(out + 'openpyxl-identity-as-number.xlsx')

# Formulas that no program has calculated.
w, s = book([row('F1', price='=1+1.5'), row('F2'), row('="F"&3')])
w.save(out + 'openpyxl-formulas-without-values.xlsx')

# Merged cells: a title above the header, and a reference over two rows.
w = openpyxl.Workbook()
s = w.active
s['A1'] = 'Faturas de novembro'
s.merge_cells('A1:I1')
s.append([])
s.append(H)
for r in [row('F1'), row(None, text='Bolo'), row('F2', customer='Rui', price=4)]:
    s.append(r)
s.merge_cells('A4:A5')
w.save(out + 'openpyxl-merged.xlsx')

# Hidden: a row, a column, a sheet. Comments, notes to the right of the table.
w, s = book([row('F1'), row('F2', price=3), row('F3', price=4)])
s.row_dimensions[3].hidden = True
s.column_dimensions['C'].hidden = True
s['L2'] = 'confirmar'
s['A2'].comment = Comment('Comentário', 'Ana')
h = w.create_sheet('Antigas')
h.append(H)
h.append(row('OLD'))
h.sheet_state = 'hidden'
w.save(out + 'openpyxl-hidden.xlsx')

# Two visible sheets with a header each.
w, s = book([row('F1')], 'Janeiro')
t = w.create_sheet('Fevereiro')
t.append(H)
t.append(row('F2', price=3))
w.save(out + 'openpyxl-two-sheets.xlsx')

# One sheet with a header beside one without, and one without anything.
w, s = book([row('F1')], 'Dados')
n = w.create_sheet('Notas', 0)
n['A1'] = 'Ler com atenção'
w.create_sheet('Vazia')
w.save(out + 'openpyxl-one-of-three-sheets.xlsx')

# The other date system, rich text, percentages, currencies, line ends and characters of XML in texts.
w, s = book([row('F1', code=0.23), row('F2', price=12.5), row('F3', currency='USD', price=9), row('F4', text='a\nb & <c> "d" _x0041_'), row('F5'), row('F6', price=0.15)])
w.epoch = CALENDAR_MAC_1904
s['I2'].number_format = '0%'
s['H3'].number_format = '#,##0.00 [$€-816]'
s['H4'].number_format = '#,##0.00 [$€-816]'
s['F6'] = CellRichText(['Pão ', TextBlock(InlineFont(b=True), 'de Mafra')])
s['H7'].number_format = '0%'
w.save(out + 'openpyxl-formats.xlsx')

# Numbers as texts, with a decimal comma that two of them prove.
w, s = book([row('F1', price='1.234,50'), row('F2', quantity='2', price='12,5'), row('F3', price='1.234'), row('F4', price=1.234)])
w.save(out + 'openpyxl-numbers-as-text.xlsx')

# Rests of binary arithmetic, as another program writes them.
w, s = book([row('F1', price=12.34), row('F2', price=0.5), row('F3', price=1.005)])
for cell in ('H2', 'H4'):
    s[cell].number_format = '0.00'
w.save(out + 'openpyxl-shown-rounded.xlsx')

# pandas: integers become floats in a column with a hole.
import pandas

frame = pandas.DataFrame([row('F1', nif=501964843, tax=508341272), row('F1', nif=501964843, text='Bolo', price=0.1), row('F2', nif=501964843, tax=999999990)], columns=H)
frame['customer_tax_id'] = frame['customer_tax_id'].astype('float64')
frame.loc[1, 'customer_tax_id'] = 508341272
frame.to_excel(out + 'pandas-openpyxl.xlsx', index=False)
frame.to_excel(out + 'pandas-odfpy.ods', index=False, engine='odf')
frame.to_excel(out + 'pandas-xlsxwriter-with-index.xlsx', engine='xlsxwriter')

from pyexcel_ods import save_data as save_ods
from pyexcel_ods3 import save_data as save_ods3

save_ods(out + 'pyexcel-ods.ods', {'Faturas': [H, row('F1', tax='508341272'), row('F2', tax='508341272', quantity=3, price=0.07)]})
save_ods3(out + 'pyexcel-ods3.ods', {'Faturas': [H, row('F1', tax='508341272'), row('F2', tax='508341272', quantity=3, price=0.07)], 'Outra': [['nada']]})

import pyexcelerate

p = pyexcelerate.Workbook()
p.new_sheet('Faturas', data=[H, row('F1', tax='508341272'), row('F2', tax='508341272', quantity=3, price=0.07)])
p.save(out + 'pyexcelerate.xlsx')
