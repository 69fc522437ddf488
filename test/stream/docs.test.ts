/** docs/stream.md against the code: every frame, close code, error and topic is in it. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { closeCodes, Frame, gapReasons } from "#domain/stream/Frame.ts"
import { Bar, MarketQuote } from "#domain/stream/MarketData.ts"
import { StreamRefusal } from "#domain/stream/SocketGate.ts"
import { AssetClass, assetTopic, CollectionNamespace, collectionTopic, nameOf } from "#domain/stream/Topic.ts"
import * as refusals from "#stream/refusals.ts"

const text = readFileSync(join(import.meta.dirname, "../../docs/stream.md"), "utf8")
/** Rows of its tables, by the text of their first cell. */
const rows = text
  .split("\n")
  .filter((line) => line.startsWith("|"))
  .map((line) => line.split("|").map((cell) => cell.trim()))

describe("docs/stream.md", () => {
  it("has every frame with all of its fields", () => {
    for (const { fields } of Frame.members) {
      const type = fields.type.literal
      const row = rows.find(([, first]) => first === `\`${type}\``)
      assert.isDefined(row, type)
      for (const field of Object.keys(fields).filter((name) => name !== "v" && name !== "type")) {
        assert.include(row![2], `\`${field}`, `${field} of ${type}`)
      }
    }
    for (const reason of gapReasons) assert.include(text, `\`${reason}\``)
    for (const data of [Bar, MarketQuote])
      for (const field of Object.keys(data.fields)) assert.match(text, new RegExp(`\\b${field}\\b`, "u"))
  })

  it("has every close code and no other", () => {
    const documented = rows.map(([, first]) => first).filter((cell) => /^[0-9]{4}$/u.test(cell ?? ""))
    assert.deepStrictEqual(
      documented.map(Number).sort(),
      Object.values(closeCodes)
        .map(({ code }) => code)
        .sort()
    )
  })

  it("has every error under its status and no other", () => {
    const { assetNotAllowed, invalidRequest, providerNotConfigured, rateLimited, registryFull, topicNotAllowed } =
      refusals
    const made = [
      ...Object.values(refusals).filter((one) => one instanceof StreamRefusal),
      assetNotAllowed(["A"]),
      invalidRequest("a reason"),
      providerNotConfigured("massive"),
      rateLimited(1),
      registryFull(1),
      topicNotAllowed("a topic")
    ]
    assert.lengthOf(made, Object.keys(refusals).length)
    const documented = rows.flatMap(([, status, errors = ""]) =>
      /^[0-9]{3}$/u.test(status ?? "")
        ? [...errors.matchAll(/`([a-z_]+)`/gu)].map(([, error]) => `${status} ${error}`)
        : []
    )
    assert.deepStrictEqual(
      [...new Set(documented)].sort(),
      [...new Set(made.map(({ error, status }) => `${status} ${error}`))].sort()
    )
  })

  it("has every topic", () => {
    const names = [
      ...AssetClass.literals.map((assetClass) => nameOf(assetTopic(assetClass, "{SYMBOL}"))),
      ...CollectionNamespace.literals.map((namespace) => nameOf(collectionTopic(namespace)))
    ]
    for (const name of names)
      assert.isDefined(
        rows.find(([, first]) => first === `\`${name}\``),
        name
      )
  })
})
