// Reads a report as the programs do that it is for: node read.mjs FORMAT FILE DIR.
// It prints what they made of it as JSON, and fails where they refuse it.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [format, file, dir] = process.argv.slice(2)
const text = readFileSync(file, 'utf8')
const require = createRequire(join(dir, 'package.json'))
const load = name => import(pathToFileURL(require.resolve(name)))

const readers = {
  async sarif() {
    const validator = new (require('ajv-draft-04').default)({ allErrors: true, strict: false })
    require('ajv-formats').default(validator)
    const log = JSON.parse(text)
    const valid = validator.validate(JSON.parse(readFileSync(join(dir, 'sarif-schema-2.1.0.json'), 'utf8')), log)
    if (!valid) throw new Error(validator.errorsText())
    return log.runs[0].results.map(r => ({ name: r.ruleId, failed: r.level !== 'note', suppressed: !!r.suppressions }))
  },
  async sbom() {
    const { Spec, Validation } = require('@cyclonedx/cyclonedx-library')
    const wrong = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)
    if (wrong) throw new Error(JSON.stringify(wrong))
    return JSON.parse(text).components.map(c => ({ name: c.name }))
  },
  async junit() {
    const { parse } = await load('junit2json')
    const out = await parse(text)
    return (out.testsuite ?? []).flatMap(s => (s.testcase ?? []).map(c => ({ name: c.name, failed: !!c.failure })))
  },
  async tap() {
    const { Parser } = await load('tap-parser')
    const events = Parser.parse(text)
    const [, end] = events.find(e => e[0] === 'complete')
    if (end.failures.some(f => f.tapError) || end.bailout) throw new Error(JSON.stringify(end))
    return events.filter(e => e[0] === 'assert').map(e => ({ name: e[1].name, failed: !e[1].ok }))
  },
}
console.log(JSON.stringify(await readers[format]()))
