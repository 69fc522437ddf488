/** A page on which a person signs in with a wallet, swaps on a real chain, and watches the swap until its end. */
import { createContext, runInContext } from "node:vm"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { actingChain, tokenAddress } from "#test/support/actingOwner.ts"
import { fetchFrom, globalsOfPages, hasBrowser, inBrowser, openSite, type Site } from "#test/support/browser.ts"
import { bundleForBrowsers } from "#test/support/browserBundle.ts"
import { chainBalance, createStrategy, enroll, fund } from "#test/support/journey.ts"
import { startWorld, type World, worldFolder } from "#test/support/World.ts"

let world: World
let folder: Awaited<ReturnType<typeof worldFolder>>
let site: Site
let code: string
let take: (reported: any) => void = () => {}

beforeAll(async () => {
  folder = await worldFolder()
  site = await openSite((reported) => take(reported))
  code = (await bundleForBrowsers("test/world/support/page.ts")).code
  world = await startWorld(folder.dataDir, { APP_ORIGINS: site.origin })
})

afterAll(async () => {
  await world?.stop()
  await site?.close()
  await folder?.remove()
})

/** What the page does. Needs `Ballast` and `report`. */
const script = (facts: Record<string, unknown>) => `(async () => {
  const { baseUrl, chainId, input, key, now, origin } = ${JSON.stringify(facts)}
  try {
    const wallet = Ballast.privateKeyToAccount(key)
    const anybody = Ballast.connectProcedures({ baseUrl })
    const { nonce } = await anybody.call("identity.nonce", undefined)
    const page = { domain: new URL(origin).host, uri: origin, version: "1", chainId, issuedAt: new Date(now) }
    const message = Ballast.createSiweMessage({ ...page, address: wallet.address, nonce })
    const signature = await wallet.signMessage({ message })
    const { token } = await anybody.call("identity.signIn", { message, signature })
    const member = anybody.as(token)
    const { operationId } = await member.call("v2.portfolio.actions.submit", input)
    for await (const frame of member.stream("v2.executions.stream", { operationId })) await report(frame)
    await report({ kind: "closed" })
  } catch (error) {
    await report({ kind: "failed", message: String((error && error.message) || error) })
  }
})()`

/** An owner of a funded portfolio without a schedule, whose key a page is given. */
const newOwner = async () => {
  const key = generatePrivateKey()
  const account = privateKeyToAccount(key)
  const { accounts, portfolioId } = await enroll(world, {
    strategyId: await createStrategy(world),
    owner: {
      ownerAccountId: `eip155:0:${account.address}`,
      sign: (raw) => account.signMessage({ message: { raw } }),
      signTypedData: (typedData: any) => account.signTypedData(typedData)
    }
  })
  await world.api("POST", `/v2/portfolios/${portfolioId}/stop`)
  await fund(world, accounts, 10_000n)
  return { key, portfolioId, vault: accounts[0]! }
}

/** Signs in, swaps and watches on the page that `open` makes. */
const swapOnPage = async (open: (script: string) => unknown) => {
  const { key, portfolioId, vault } = await newOwner()
  const before = await chainBalance(world, vault, "WETH")
  const kinds: Array<string> = []
  const closed = new Promise<any>((resolve, reject) => {
    let last: any
    take = (frame) => {
      if (frame.kind === "failed") return reject(new Error(`the page: ${frame.message}`))
      if (frame.kind === "closed") return resolve(last)
      last = frame
      kinds.push(frame.kind)
    }
  })
  const params = {
    fromChainId: `${actingChain}`,
    fromTokenAddress: tokenAddress(world, "USDC"),
    fromAmount: "1000000000",
    toChainId: `${actingChain}`,
    toTokenAddress: tokenAddress(world, "WETH"),
    toAddress: vault.split(":")[2]
  }
  await open(
    script({
      baseUrl: world.overview.apiBaseUrl,
      chainId: actingChain,
      input: { portfolioId, kind: "swap_backend_quote", params },
      key,
      now: world.overview.now,
      origin: site.origin
    })
  )
  const last = await closed
  assert.strictEqual(last.kind, "execution.result", JSON.stringify({ kinds, last }))
  assert.strictEqual(last.payload.status, "completed", JSON.stringify(last))
  assert.isAbove(kinds.length, 2)
  assert.isTrue((await chainBalance(world, vault, "WETH")) > before)
}

describe("a page", () => {
  it("signs in, swaps and watches to the end with nothing but what pages have: no process, Buffer or require", async () => {
    const report = (frame: unknown) => Promise.resolve(take(JSON.parse(JSON.stringify(frame))))
    const page = createContext({ ...globalsOfPages, fetch: fetchFrom(site.origin), report })
    runInContext(code, page)
    assert.strictEqual(runInContext("typeof process + typeof Buffer + typeof require", page), "undefined".repeat(3))
    await swapOnPage((script) => runInContext(script, page))
  })

  it.skipIf(!hasBrowser)(`signs in, swaps and watches to the end ${inBrowser}`, () =>
    swapOnPage((script) => site.open(code, script))
  )
})
