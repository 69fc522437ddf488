/** The plain client's names against the contract's, so that no endpoint is left without one. */
import { assert, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"
import { V2 } from "#client/effect/effect.ts"
import { endpoints } from "#client/plain/endpoints.ts"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { pagesOf } from "#client/plain/pages.ts"
import { BallastError, connect } from "ballast/client"

const folder = join(import.meta.dirname, "../../client/plain")

it("every endpoint of the contract has a method of the plain client", () => {
  const code = readdirSync(folder)
    .map((file) => readFileSync(join(folder, file), "utf8"))
    .join("\n")
  const names = Object.values(V2.groups as unknown as Record<string, { endpoints: object }>).flatMap(({ endpoints }) =>
    Object.keys(endpoints)
  )
  assert.isAbove(names.length, 50)
  assert.deepStrictEqual(
    // The stream is followed by `events.follow`, over connections that end.
    names.filter((name) => name !== "streamEvents" && !new RegExp(`call(?:\\.whole)?\\(\\s*"${name}"`, "u").test(code)),
    []
  )
})

it("every method that people call is written, with what it is for", () => {
  const faces = readdirSync(folder).flatMap((file) =>
    [...readFileSync(join(folder, file), "utf8").matchAll(/^(?:export )?interface (\w+)[^{]*\{\n([\s\S]*?)^\}/gmu)].map(
      ([, name, body]) => ({ name: name!, body: body! })
    )
  )
  const bodies = new Map(faces.map(({ body, name }) => [name, body]))
  /** The interfaces that `Ballast` is made of. */
  const ofBallast = ["Ballast", "Own", "Assets", "TenantSettings"].concat(
    [...bodies.get("Ballast")!.matchAll(/^ {2}readonly \w+: ([A-Z]\w+)$/gmu)]
      .map(([, name]) => name!)
      .filter((name) => name !== "Call")
  )
  assert.lengthOf(ofBallast, 11)
  const members = ofBallast.flatMap((name) => {
    const lines = bodies.get(name)!.split("\n")
    return lines.flatMap((line, index) =>
      /^ {2}readonly /u.test(line)
        ? [{ member: `${name}: ${line.trim()}`, isSaid: lines[index - 1]?.endsWith(" */") === true, line }]
        : []
    )
  })
  assert.isAbove(members.length, 70)
  assert.deepStrictEqual(
    members.filter(({ isSaid }) => !isSaid).map(({ member }) => member),
    []
  )
  assert.isEmpty(members.filter(({ line }) => /ReturnType|typeof/u.test(line)))
})

const options = { baseUrl: "http://ballast.test", apiKey: "key" }
const portfolioId = "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8"

it("the table of endpoints has each of the contract with its method and its path, and no other", () => {
  const { paths } = OpenApi.fromApi(V2) as unknown as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>
  }
  const written = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => [operationId, `${method.toUpperCase()} ${path}`])
  )
  const { streamEvents, ...called } = Object.fromEntries(written)
  assert.strictEqual(streamEvents, "GET /v2/events/stream")
  assert.deepStrictEqual(endpoints, called)
})

it("what cannot be sent is refused with the field before anything is sent", async () => {
  let sent = 0
  const fetch = () => {
    sent += 1
    return Promise.reject(new Error("nothing may be sent"))
  }
  const ballast = connect({ ...options, fetch })
  const refusals: ReadonlyArray<readonly [field: string, refused: () => unknown]> = [
    ["baseUrl", () => connect({ ...options, baseUrl: "ballast.test" })],
    ["apiKey", () => connect({ ...options, apiKey: "key\n" })],
    ["path.portfolioId", () => ballast.portfolios.get("")],
    ["path.portfolioId", () => ballast.portfolios.get("..")],
    ["idempotencyKey", () => ballast.portfolios.rebalance(portfolioId, { idempotencyKey: "ä" })],
    ["body", () => ballast.enrollments.prepareResign(portfolioId, { chainIds: [1n as unknown as number] })]
  ]
  for (const [field, refused] of refusals) {
    const error = await (async () => refused())().catch((error: unknown) => error)
    assert.instanceOf(error, BallastError, field)
    assert.strictEqual((error as BallastError).code, "API_400")
    assert.match((error as BallastError).details.join(), new RegExp(`^${field}: `, "u"))
    assert.notInclude(JSON.stringify(error), "key\\n")
  }
  assert.strictEqual(sent, 0)
})

it("an error of the API has its code, its status, its details and its pause", async () => {
  const body = {
    success: false,
    error: { code: "API_006", message: "No such portfolio", details: ["portfolioId: unknown"] }
  }
  const answer = () => Response.json(body, { status: 404, headers: { "retry-after": "3" } })
  const ballast = connect({ ...options, fetch: async () => answer() })
  const error = await ballast.portfolios.get(portfolioId).catch((error: unknown) => error)
  assert.instanceOf(error, BallastError)
  const { code, details, message, retryAfterSeconds, status } = error as BallastError
  assert.deepStrictEqual(
    { code, details, message, retryAfterSeconds, status },
    {
      ...body.error,
      retryAfterSeconds: 3,
      status: 404
    }
  )
})

it("a list asks for the next page when it is needed, and ends at the last", async () => {
  const asked: Array<string | undefined> = []
  const list = pagesOf(async (cursor) => {
    asked.push(cursor)
    return cursor === undefined ? { items: [1, 2], nextCursor: "b" } : { items: [3], nextCursor: null }
  })
  const items: Array<number> = []
  for await (const item of list) items.push(item)
  assert.deepStrictEqual(
    [items, asked],
    [
      [1, 2, 3],
      [undefined, "b"]
    ]
  )
})
