/** Tests that both documents give every text a format, and that every example is true. */
import { assert, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"
import { V1 } from "#http/v1/Api.ts"
import { V2 } from "#http/v2/Api.ts"
import { hardForGenerators } from "#test/api/support/hardForGenerators.ts"

const v2: any = JSON.parse(JSON.stringify(OpenApi.fromApi(V2)))
const v1: any = JSON.parse(JSON.stringify(OpenApi.fromApi(V1)))

const said = ["pattern", "format", "enum", "const", "maxLength"]

const saysForm = (schema: any): boolean => said.some((word) => schema[word] !== undefined)

/** The path of every schema of a text of which nothing is said, below the paths and components. */
const bareTexts = (value: any, at: string): ReadonlyArray<string> => {
  if (typeof value !== "object" || value === null) return []
  const own = value.type === "string" && !saysForm(value) ? [at] : []
  return [
    ...own,
    ...Object.entries(value).flatMap(([key, part]) =>
      key === "example" || key === "examples" ? [] : bareTexts(part, `${at}/${key}`)
    )
  ]
}

/** What others wrote and the service passes on, or what has no bound but its own sense. */
const exceptions: ReadonlyArray<readonly [place: RegExp, reason: string]> = [
  [/\/error\/properties\/(message|details\/items)$/u, "sentences that name what was sent"],
  [/\/StreamEnded\/properties\/message$/u, "a sentence that names the key"],
  [/\/(Position|Breakdown\w+)\/properties\/(symbol|name)(\/anyOf\/0)?$/u, "as the token list or the catalogue has it"],
  [/\/PositionsWarning\/properties\/message$/u, "a sentence that names the asset or the chain"],
  [
    /\/(Operation(Item|Detail)?|ExecutionSnapshot)\/properties\/error\/anyOf\/0$/u,
    "sentences of every chain that failed"
  ],
  [/\/OperationStateChangedEvent\/.*\/error\/anyOf\/0$/u, "the same in an event"],
  [
    /\/(OperationItem|OperationDetail|LastOperation)\/properties\/reason\/anyOf\/0$/u,
    "a sentence of a chain or a provider"
  ],
  [/\/SkipResult\/properties\/reason$/u, "a sentence that names amounts and assets"],
  [/\/ChainResult\/properties\/failure\/anyOf\/0$/u, "a sentence of a chain or a provider about one of them"],
  [/\/Attention\/properties\/action$/u, "a sentence that quotes why a run failed"],
  [/\/TenantEventFrameEncoded$/u, "the event of a tenant as JSON text in a frame"],
  [/\/Execution(Error|TimelineEntry|Progress)\/properties\/message$/u, "sentences that name what was done"],
  [/\/text\/event-stream\/schema\/properties\/(id\/anyOf\/0|event)$/u, "frames as the generator describes them"],
  [/\/(ExecutionFrame|AgUiEvent)Encoded$/u, "the event as JSON text in a frame"],
  [/\/AgUiEvent\/anyOf\/\d+\/properties\/message$/u, "sentences of every chain that failed"],
  [/\/AgUiExecutionState\/properties\/error\/anyOf\/0$/u, "the same in a snapshot"]
]

const bare = [...bareTexts(v2, "v2"), ...bareTexts(v1, "v1")]

describe("schemas", () => {
  it("every text has a pattern, a format, an enumeration, a constant or a length, but for those with a reason", () => {
    assert.deepStrictEqual(
      bare.filter((place) => !exceptions.some(([exception]) => exception.test(place))),
      []
    )
  })

  for (const [exception, reason] of exceptions) {
    it(`the exception of ${reason} is one`, () => assert.isTrue(bare.some((place) => exception.test(place))))
  }

  it("every pattern is one, anchored at both ends", () => {
    const patterns = [...JSON.stringify([v1, v2]).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/gu)].map(([, text]) =>
      JSON.parse(text!)
    )
    assert.isAbove(patterns.length, 100)
    for (const pattern of patterns) assert.match(pattern, /^\^.*[$]$/u)
    for (const pattern of new Set(patterns)) assert.doesNotThrow(() => new RegExp(pattern, "u"))
  })

  it("nothing is hard for generators: lists have items, parts a type, patterns no escaped slash", () => {
    assert.deepStrictEqual([...hardForGenerators(v2, "v2"), ...hardForGenerators(v1, "v1")], [])
  })

  it("a portfolio's name has its pattern and its length, and the pattern refuses no name that is one", () => {
    for (const schema of [v2.components.schemas.EnrollBody, v2.components.schemas.PortfolioPatch]) {
      const { maxLength, minLength, pattern } = schema.properties.portfolioName.anyOf[0]
      assert.deepStrictEqual([minLength, maxLength], [1, 64])
      for (const flags of ["", "u"]) {
        const form = new RegExp(pattern, flags)
        for (const name of [
          "Savings",
          "Anna & Ben (2026): a/b - c_d.",
          "\u00dcn\u00efc\u00f6d\u00e9",
          "\u8d2f\u84c4",
          "\u0915\u0940"
        ])
          assert.match(name, form)
        for (const name of ["", "a\nb", "<b>", "a=b", "50%", "a\\b", "[a]", "a;b"]) assert.notMatch(name, form)
      }
    }
  })

  it("both documents name a contact and a licence", () => {
    for (const { info } of [v1, v2]) {
      assert.hasAllKeys(info.contact, ["name", "url"])
      assert.hasAllKeys(info.license, ["name", "url"])
    }
  })

  it("tags are words, and each is described", () => {
    for (const { tags } of [v1, v2]) {
      for (const { description, name } of tags) {
        assert.match(name, /^[A-Z][a-z]+( [a-z]+)*$/u)
        assert.isAbove(description.length, 10)
      }
    }
  })
})

const responses: ReadonlyArray<readonly [route: string, status: string, example: any]> = [v1, v2].flatMap(({ paths }) =>
  Object.entries<any>(paths).flatMap(([path, item]) =>
    Object.entries<any>(item).flatMap(([method, operation]) =>
      Object.entries<any>(operation.responses).flatMap(([status, { content }]) =>
        Object.values<any>(content ?? {}).map(
          ({ example }) => [`${method.toUpperCase()} ${path}`, status, example] as const
        )
      )
    )
  )
)

/** Every object of an example that has all of these keys. */
const having = (value: any, keys: ReadonlyArray<string>): ReadonlyArray<any> => {
  if (typeof value !== "object" || value === null) return []
  const inner = Object.values(value).flatMap((part) => having(part, keys))
  return keys.every((key) => key in value) ? [value, ...inner] : inner
}

const all = (...keys: ReadonlyArray<string>) => {
  const found = responses.flatMap(([, , example]) => having(example, keys))
  assert.isAbove(found.length, 0, keys.join())
  return found
}

/** A decimal text as an integer of `places` decimal places. */
const scaled = (text: string, places = 18) => {
  const [whole, fraction = ""] = text.split(".")
  return BigInt(`${whole}${fraction.padEnd(places, "0").slice(0, places)}`)
}
const sum = (texts: ReadonlyArray<string>) => texts.reduce((total, text) => total + scaled(text), 0n)

describe("examples of answers", () => {
  it("positions: balance, price and value of a row, and the total", () => {
    for (const { balance, balanceRaw, decimals, priceUsd, valueUsd } of all("balanceRaw", "decimals")) {
      assert.strictEqual(scaled(balance, decimals), BigInt(balanceRaw))
      assert.strictEqual((BigInt(balanceRaw) * scaled(priceUsd)) / 10n ** BigInt(decimals), scaled(valueUsd))
    }
    for (const { assets, inTransit, smartAccounts, totalValueUsd, warnings } of all("inTransit")) {
      const valueOf = ({ valueUsd }: any) => valueUsd
      assert.strictEqual(scaled(inTransit.totalUsd), sum(inTransit.items.map(valueOf)))
      assert.strictEqual(scaled(totalValueUsd), sum(assets.map(valueOf)) + scaled(inTransit.totalUsd))
      const accounts = smartAccounts.map(({ accountId }: any) => accountId)
      for (const { smartAccountId } of assets) assert.include(accounts, smartAccountId)
      assert.deepStrictEqual(warnings, [])
    }
  })

  it("allocations sum to 100 percent", () => {
    for (const { allocation } of all("allocation"))
      assert.strictEqual(sum(allocation.assets.map(({ weight }: any) => weight)), scaled("100"))
  })

  it("operations: times in order, and a terminal state that has ended", () => {
    for (const operation of all("operationId", "state", "updatedAt")) {
      assert.strictEqual(operation.createdAt, operation.submittedAt)
      assert.strictEqual(operation.updatedAt, operation.finishedAt)
      assert.isAtLeast(operation.finishedAt.localeCompare(operation.submittedAt), 1)
      assert.deepInclude(operation, { state: "completed", error: null })
    }
  })

  it("schedules: due one interval after the last rebalance, which was after the enrollment", () => {
    for (const { createdAt, schedule } of all("schedule", "portfolioName")) {
      const { frequency, intervalMs, lastRebalanceAt, nextDueAt } = schedule
      assert.deepStrictEqual([frequency, intervalMs], ["daily", 86_400_000])
      assert.strictEqual(Date.parse(nextDueAt), Date.parse(lastRebalanceAt) + intervalMs)
      assert.isBelow(Date.parse(createdAt), Date.parse(lastRebalanceAt))
    }
  })

  it("curves begin at zero, and a window agrees with the points", () => {
    for (const { meta, points, summary } of all("points", "summary")) {
      const [first, last] = [points[0], points.at(-1)]
      assert.strictEqual(first.percentChange, "0.0000")
      const [{ percentChange, since, window }] = summary.windows
      assert.deepStrictEqual([window, since, percentChange], ["1m", first.date, last.percentChange])
      assert.strictEqual(meta.asOf.slice(0, 10), last.date)
      if (first.valueUsd === undefined) continue
      assert.strictEqual(first.valueUsd, first.cashFlowUsd)
      // Nothing flowed after the first day, so the change of value is the change.
      const grown = (scaled(last.valueUsd) * 100_0000n) / scaled(first.valueUsd) - 100_0000n
      assert.strictEqual(grown, scaled(percentChange, 4))
    }
  })

  it("withdrawals: the two ways to write the nonce and the end, and the version of the data", () => {
    for (const { authorizationId, expiresAt, typedData } of all("authorizationId")) {
      const { domain, message, types } = typedData
      assert.strictEqual(authorizationId, message.nonce)
      assert.strictEqual(Date.parse(expiresAt), message.expiresAt * 1_000)
      assert.strictEqual(domain.version, message.liquidate === true ? "2" : "1")
      const members = types.Withdrawal.map(({ name }: any) => name)
      assert.deepStrictEqual(members, Object.keys(message))
      assert.strictEqual(Number(message.recipientAccountId.split(":")[1]), domain.chainId)
    }
  })

  it("versions: one head, the newest first", () => {
    for (const { versions } of all("versions")) {
      assert.deepStrictEqual(
        versions.map(({ isHead, version }: any) => [version, isHead]),
        [
          [2, true],
          [1, false]
        ]
      )
    }
  })

  it("breakdowns: parts sum to their bucket, buckets to their total, and what is placed is in no diagnostics", () => {
    for (const { breakdowns, diagnostics, holdings, normalization } of all("breakdowns", "diagnostics")) {
      assert.strictEqual(sum(holdings.map((one: any) => one.sourceValue)), scaled(normalization.sourceTotal))
      assert.strictEqual(sum(holdings.map((one: any) => one.normalizedWeight)), scaled(normalization.normalizedTotal))
      for (const { buckets, totalWeight } of breakdowns) {
        assert.strictEqual(sum(buckets.map(({ weight }: any) => weight)), scaled(totalWeight))
        for (const { holdingCount, holdings: parts, weight } of buckets) {
          assert.strictEqual(holdingCount, parts.length)
          assert.strictEqual(sum(parts.map((part: any) => part.weight)), scaled(weight))
        }
      }
      assert.deepStrictEqual(Object.values(diagnostics), [[], [], [], []])
    }
  })

  it("progress: the percentage of the steps", () => {
    const frames = JSON.stringify(v1.components.schemas.ExecutionProgress)
    assert.isTrue(frames.includes("percent"))
    const { completedSteps, percent, totalSteps } = v1.components.schemas.ExecutionProgress.properties
    assert.strictEqual(percent.examples[0], (100 * completedSteps.examples[0]) / totalSteps.examples[0])
  })

  it("errors show no details but those of their own code", () => {
    const errors = responses.filter(([, status]) => Number(status) >= 400)
    assert.isAbove(errors.length, 100)
    for (const [route, , { error, success }] of errors) {
      assert.isFalse(success, route)
      assert.sameMembers(Object.keys(error), ["code", "message"])
    }
  })
})
