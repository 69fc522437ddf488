/** The plain client's names against the contract's, so that no endpoint is left without one. */
import { assert, it } from "@effect/vitest"
import { V2 } from "ballast/client"
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

it("what is not valid is refused with the field before anything is sent", async () => {
  let sent = 0
  const ballast = connect({
    baseUrl: "http://ballast.test",
    apiKey: "key",
    fetch: () => {
      sent += 1
      return Promise.reject(new Error("nothing may be sent"))
    }
  })
  const draft = {
    name: "Halves",
    allocation: { assets: [] },
    schedule: { type: "interval", frequency: "hourly" }
  } as const
  const error = await ballast.strategies.create(draft).catch((error: unknown) => error)
  assert.instanceOf(error, BallastError)
  assert.strictEqual((error as BallastError).code, "API_400")
  assert.include((error as BallastError).details.join("\n"), "allocation.assets")
  assert.strictEqual(sent, 0)
})

it("an error of the API has its code, its status and its details", async () => {
  const body = {
    success: false,
    error: { code: "API_006", message: "No such portfolio", details: ["portfolioId: unknown"] }
  }
  const ballast = connect({
    baseUrl: "http://ballast.test",
    apiKey: "key",
    fetch: () => Promise.resolve(Response.json(body, { status: 404 }))
  })
  const error = await ballast.portfolios.get("pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8").catch((error: unknown) => error)
  assert.instanceOf(error, BallastError)
  const { code, details, message, status } = error as BallastError
  assert.deepStrictEqual({ code, details, message, status }, { ...body.error, status: 404 })
})

it("an answer that is none of the API is distinguished from no answer", async () => {
  const fetch = () => Promise.resolve(new Response("<html>", { status: 502 }))
  const ballast = connect({ baseUrl: "http://ballast.test", apiKey: "key", fetch })
  const error = await ballast.whoami().catch((error: unknown) => error)
  assert.deepStrictEqual([(error as BallastError).code, (error as BallastError).status], ["UNEXPECTED_ANSWER", 502])
})

it("a read is sent again when nobody answered, a call that creates is not unless it has a key", async () => {
  let sent = 0
  const fetch = () => {
    sent += 1
    return Promise.reject(new TypeError("refused"))
  }
  const ballast = connect({ baseUrl: "http://ballast.test", apiKey: "key", fetch, retries: 1 })
  const codeOf = (promise: Promise<unknown>) => promise.catch((error: BallastError) => error.code)
  assert.strictEqual(await codeOf(ballast.whoami()), "UNREACHABLE")
  assert.strictEqual(sent, 2)
  const portfolio = "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8"
  await codeOf(ballast.portfolios.start(portfolio))
  assert.strictEqual(sent, 3)
  await codeOf(ballast.portfolios.start(portfolio, { idempotencyKey: "start-1" }))
  assert.strictEqual(sent, 5)
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
