/** The console's one style sheet. Contrast of each pair of colours is 4.5 or more, in light and in dark. */
export const CONSOLE_STYLE = `
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--paper:#fff;--panel:#f6f8fa;--line:#d0d7de;--field:#8c959f;--link:#0550ae;--on-link:#fff;--good:#1a7f37;--under-way:#0969da;--open:#9a6700;--bad:#cf222e}
@media screen and (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9da7b1;--paper:#0d1117;--panel:#161b22;--line:#30363d;--field:#6e7681;--link:#79c0ff;--on-link:#0d1117;--good:#3fb950;--under-way:#58a6ff;--open:#d29922;--bad:#ff7b72}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
.skip{position:absolute;left:-99rem}.skip:focus{left:.5rem;top:.5rem;background:var(--paper);padding:.25rem .5rem;z-index:1}
.unseen{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
header.top{border-bottom:1px solid var(--line);background:var(--panel)}header.top nav{max-width:76rem;margin:0 auto;padding:.5rem 1rem;display:flex;flex-wrap:wrap;gap:.35rem 1.25rem;align-items:center}
header.top strong{font-size:1.15rem}header.top a[aria-current]{color:var(--ink);font-weight:600;text-decoration:none}
form.search{display:flex;gap:.4rem;margin-left:auto;flex:0 1 22rem}form.search input{flex:1;min-width:0}
main,footer{max-width:76rem;margin:0 auto;padding:1.25rem 1rem}footer{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;align-items:baseline;border-top:1px solid var(--line);margin-top:2.5rem;font-size:.9rem}footer ul.plain{margin:0 0 0 auto}
h1{font-size:1.55rem;line-height:1.25;margin:.25rem 0 .75rem;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:2rem 0 .5rem}p{margin:.4rem 0}
a{color:var(--link);text-underline-offset:.15em}:focus-visible{outline:2px solid var(--link);outline-offset:2px}
.soft{color:var(--soft)}.big{font-size:1.15rem}code,pre,.mono{font-family:ui-monospace,monospace;font-size:.88em;overflow-wrap:anywhere}
pre{background:var(--panel);border:1px solid var(--line);border-radius:.35rem;padding:.6rem .75rem;overflow-x:auto;white-space:pre-wrap}
.good{--tone:var(--good)}.under-way{--tone:var(--under-way)}.open{--tone:var(--open)}.bad{--tone:var(--bad)}
.state{color:var(--tone);font-weight:600;white-space:nowrap}.state::before{content:"";display:inline-block;width:.7em;height:.7em;margin-right:.4em;border-radius:50%;background:var(--tone)}
.verdict{border-left:.4rem solid var(--tone);background:var(--panel);padding:.75rem 1.25rem;border-radius:.35rem;margin:.75rem 0 1rem}
.card{border:1px solid var(--line);border-radius:.35rem;padding:.75rem 1rem;margin:.75rem 0}.done{background:var(--panel);border:1px solid var(--line);border-radius:.35rem;padding:.5rem .75rem}
svg.bar{display:block;width:100%;height:1.25rem;border-radius:.25rem;background:var(--line)}svg.bar rect{fill:var(--tone)}td svg.bar{min-width:8rem;max-width:20rem;height:.7rem;margin:.4rem 0 .1rem}
figure{margin:1.5rem 0}figcaption{font-size:1.15rem;font-weight:600}.axis{display:flex;justify-content:space-between;gap:1rem;margin:.15rem 0;font-size:.85rem}.axis span+span{text-align:end}svg.picture{display:block;width:100%;height:11rem;border-bottom:1px solid var(--field);border-top:1px dashed var(--line)}svg.swatch{width:1rem;height:1rem;vertical-align:-.15em}svg.swatch.wide{width:2rem}svg .ink{fill:var(--tone)}svg .paper{fill:var(--paper)}svg .stroke{fill:none;stroke:var(--tone);stroke-width:2}svg .part{stroke:var(--tone);stroke-width:1;vector-effect:non-scaling-stroke}svg .line{fill:none;stroke:var(--tone);stroke-width:2.5}svg .mark{fill:var(--tone)}
button,.button,input,select,textarea{font:inherit;color:var(--ink);background:var(--paper);border:1px solid var(--field);border-radius:.35rem;padding:.35rem .75rem;max-width:100%}
button,.button{cursor:pointer;background:var(--panel);text-decoration:none;display:inline-block}button:hover,.button:hover{border-color:var(--link)}
button.main{background:var(--link);border-color:var(--link);color:var(--on-link);font-weight:600}button.danger{border-color:var(--bad);color:var(--bad);background:var(--paper)}
textarea{display:block;width:100%;min-height:24rem;font:.88rem/1.5 ui-monospace,monospace;tab-size:2;resize:vertical}
label{display:block;margin:.35rem 0 .2rem}.row{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}.row>label{flex-basis:100%;margin:0}.row>input{flex:0 1 26rem;min-width:0}
form.fields select{display:block}fieldset{border:0;margin:0;padding:0}legend{padding:0;color:var(--soft)}label.choice{display:inline-flex;gap:.4rem;align-items:baseline;margin:.2rem 1.1rem .2rem 0}.card h2{margin:.1rem 0 .4rem}.card button{margin-top:.6rem}.card input[name=reason]{display:block;width:min(100%,32rem)}h3{font-size:1rem;margin:1.2rem 0 .3rem}details{margin:.75rem 0}summary{cursor:pointer;padding:.2rem 0;color:var(--link)}details .soft,details p{max-width:60rem}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.93rem}
th,td{text-align:left;vertical-align:top;padding:.4rem .6rem;border-bottom:1px solid var(--line);unicode-bidi:isolate}
a,code,dd,span,strong{unicode-bidi:isolate}
thead th{color:var(--soft);font-weight:600;white-space:nowrap}tbody th{font-weight:600}td.number,th.number,.numbers td{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}td.time{white-space:nowrap}td.text{overflow-wrap:anywhere;min-width:13rem}td.value{min-width:9rem;max-width:24rem}.settings th[scope=row]{width:17rem}.settings td.value{width:15rem}td pre{margin:.2rem 0;max-height:16rem;overflow:auto}tfoot tr:first-child>*{border-top:2px solid var(--ink);font-weight:700;color:var(--ink)}
ul.legend{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,21rem),1fr));gap:.15rem 1.25rem;list-style:none;margin:.5rem 0;padding:0}ul.plain,ul.figures{list-style:none;margin:.5rem 0;padding:0;display:flex;flex-wrap:wrap;gap:.35rem 1.1rem}ul.plain a[aria-current]{font-weight:700;text-decoration:none;color:var(--ink)}ul.buttons{gap:.5rem}
.figure{font-size:1.3rem;font-weight:600;font-variant-numeric:tabular-nums}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1.25rem;margin:.75rem 0}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
@media (max-width:40rem){dl{grid-template-columns:1fr}dd{margin-bottom:.4rem}form.search{flex-basis:100%;margin-left:0}footer ul.plain{margin-left:0}.verdict{padding:.6rem .8rem}td.text{min-width:10rem}td.value{min-width:8rem}td .state{white-space:normal;display:inline-block;min-width:6.5rem}th[scope=row]{min-width:7.5rem}}
@media print{header.top,form,footer ul,.skip{display:none}.scroll{overflow:visible}svg.bar,svg.picture,svg.swatch,.state::before{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
`;
