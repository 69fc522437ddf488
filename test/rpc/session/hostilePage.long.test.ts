/**
 * A page of another origin on the same site, to which a browser's session cookie goes along (`SameSite=Strict` knows
 * sites and no ports), against a person who is signed in on the service's own page: in a real browser, over every wire.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { type Browser, chromium, type Page } from "playwright-core"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { createSiweMessage } from "viem/siwe"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { browser as executablePath, hasBrowser, inBrowser } from "#test/support/browser.ts"
import { startWorld, type World, worldFolder } from "#test/support/World.ts"

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync"
]

/** A page without anything on it. */
const emptySite = async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>page</title>")
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    }
  }
}

type Site = Awaited<ReturnType<typeof emptySite>>

let folder: Awaited<ReturnType<typeof worldFolder>>
let world: World
let own: Site
let hostile: Site
let launched: Browser
/** URL by the site's name, as pages call it. */
let api: string

beforeAll(async () => {
  if (!hasBrowser) return
  folder = await worldFolder()
  ;[own, hostile] = [await emptySite(), await emptySite()]
  world = await startWorld(folder.dataDir, { APP_ORIGINS: own.origin })
  api = world.overview.apiBaseUrl.replace("127.0.0.1", "localhost")
  launched = await chromium.launch({ executablePath: executablePath!, headless: true, args: flags })
})

afterAll(async () => {
  await launched?.close()
  await world?.stop()
  await own?.close()
  await hostile?.close()
  await folder?.remove()
})

/** A call of the interface's wire by a page, with its cookies. */
const call = (page: Page, procedure: string, input: unknown) =>
  page.evaluate(
    async ([url, body]) => {
      const headers = { "content-type": "application/json" }
      const response = await fetch(url!, { method: "POST", credentials: "include", headers, body: body! })
      const answer: any = await response.json()
      return { status: response.status, data: answer.result?.data.json, error: answer.error?.json }
    },
    [`${api}/v1/rpc/${procedure}`, JSON.stringify({ json: input })]
  )

/** What a wallet signs to be signed in. */
const signedBy = async (key: `0x${string}`) => {
  const wallet = privateKeyToAccount(key)
  const { body } = await world.api("POST", "/v1/rpc/identity.nonce", {})
  const now = new Date(((await (await fetch(`${world.controlUrl}/clock`)).json()) as { readonly now: string }).now)
  const { nonce } = body.result.data.json
  const { host } = new URL(own.origin)
  const page = { domain: host, uri: own.origin, version: "1", chainId: 1, issuedAt: now } as const
  const message = createSiweMessage({ ...page, address: wallet.address, nonce })
  return { message, signature: await wallet.signMessage({ message }), delivery: "cookie" as const }
}

/**
 * Everything that a page can send without being asked about, and what it may try though it is asked: with each kind of
 * body, by fetch, by a beacon, by a form and by a socket. Answers which requests an answer could be read of.
 */
const attack = (page: Page, { input, procedure }: { readonly procedure: string; readonly input: unknown }) =>
  page.evaluate(
    async ([base, tag, payload, origin]) => {
      const line = (headers: unknown) =>
        `${JSON.stringify({ _tag: "Request", id: "1", tag, payload, headers, traceId: "a".repeat(32), spanId: "b".repeat(16), sampled: false })}\n`
      const overriding = [
        ["origin", origin],
        ["sec-fetch-site", "same-origin"]
      ]
      const bodies: ReadonlyArray<readonly [string, string]> = [
        ["/v1/rpc", line(overriding)],
        ["/v1/rpc", line([["Origin", origin]])],
        ["/v1/rpc", line([])],
        [`/v1/rpc/${tag as string}`, JSON.stringify({ json: payload })]
      ]
      const read: Array<string> = []
      const trying = async (what: string, attempt: () => Promise<unknown>) => {
        try {
          await attempt()
          read.push(what)
        } catch {
          // The browser has refused, or nothing could be read.
        }
      }
      for (const [path, body] of bodies) {
        const url = `${base as string}${path}`
        for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/json", ""]) {
          const sent = { method: "POST", credentials: "include", body: new Blob([body], { type }) } as const
          await trying(`cors ${type} ${path}`, async () => (await fetch(url, sent)).text())
          await fetch(url, { ...sent, mode: "no-cors" }).catch(() => undefined)
          navigator.sendBeacon(url, new Blob([body], { type }))
        }
      }
      await new Promise<void>((resolve) => {
        const socket = new WebSocket(`${(base as string).replace("http", "ws")}/v1/rpc`)
        socket.addEventListener("open", () => {
          read.push("socket")
          socket.send(line(overriding).trim())
        })
        socket.addEventListener("message", () => resolve())
        socket.addEventListener("close", () => resolve())
      })
      const form = document.createElement("form")
      form.method = "POST"
      form.enctype = "text/plain"
      form.action = `${base as string}/v1/rpc`
      const field = document.createElement("input")
      // The body of such a form is its name, an equals sign and its value.
      field.name = `${line(overriding).trim().slice(0, -1)},"x":"`
      field.value = '"}'
      form.append(field)
      const frame = document.createElement("iframe")
      frame.name = "frame"
      document.body.append(frame, form)
      form.target = "frame"
      await new Promise<void>((resolve) => {
        frame.addEventListener("load", () => resolve())
        form.submit()
      })
      return read
    },
    [api, procedure, input, own.origin] as const
  )

describe("a page of another origin of the same site", () => {
  it.skipIf(!hasBrowser)(
    `makes nobody a member by its visitor's session, and signs no visitor in as another ${inBrowser}`,
    async () => {
      const context = await launched.newContext()
      const page = await context.newPage()
      await page.goto(own.origin)
      const signedIn = await call(page, "identity.signIn", await signedBy(generatePrivateKey()))
      assert.strictEqual(signedIn.status, 200, JSON.stringify(signedIn.error))
      assert.isNull(signedIn.data.token)
      const { userId } = signedIn.data
      assert.strictEqual((await call(page, "identity.session", undefined)).data.userId, userId)
      // From other origins of the site the browser sends this cookie too: the service must tell them apart.
      const [cookie] = await context.cookies(api)
      assert.deepStrictEqual([cookie!.name, cookie!.sameSite, cookie!.httpOnly], ["ballast_session", "Strict", true])

      const attacker = generatePrivateKey()
      const foreign = await context.newPage()
      await foreign.goto(hostile.origin)
      const walletId = `eip155:0:${privateKeyToAccount(attacker).address}`
      const invitation = { procedure: "identity.invite", input: { walletId, role: "owner" } }
      assert.isEmpty(await attack(foreign, invitation))
      await foreign.goto(hostile.origin)
      assert.isEmpty(await attack(foreign, { procedure: "apiKeys.create", input: { name: "mine", scopes: [] } }))
      await foreign.goto(hostile.origin)
      assert.isEmpty(await attack(foreign, { procedure: "identity.signIn", input: await signedBy(attacker) }))
      await foreign.goto(hostile.origin)
      assert.isEmpty(await attack(foreign, { procedure: "identity.signOut", input: null }))

      assert.lengthOf((await call(page, "identity.members", undefined)).data.members, 1)
      assert.isEmpty((await call(page, "apiKeys.list", undefined)).data.keys)
      assert.strictEqual((await call(page, "identity.session", undefined)).data.userId, userId)
      // What the page asks for itself, it gets.
      assert.strictEqual((await call(page, "identity.invite", invitation.input)).status, 200)
      assert.lengthOf((await call(page, "identity.members", undefined)).data.members, 2)
      await context.close()
    }
  )
})
