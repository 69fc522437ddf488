/**
 * Ether on an account of a world: it shows and counts, is left alone by a rebalance, and goes to whom its owner names,
 * through a crash of the service.
 */
import { createPublicClient, type Hex, http } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { connect } from "ballast/client"
import { withdraw } from "ballast/signing"
import { createStrategy, enroll, finishedOperation, fund, type Owner, rebalance } from "#test/support/journey.ts"
import { eventually, startWorld, type World, worldFolder } from "#test/support/World.ts"

const coin = "eip155:8453/slip44:60"
const ether = 10n ** 18n

let world: World
let folder: Awaited<ReturnType<typeof worldFolder>>

beforeAll(async () => {
  folder = await worldFolder()
  world = await startWorld(folder.dataDir, { REBALANCE_COOLDOWN_SECONDS: "0" })
})

afterAll(async () => {
  await world?.stop()
  await folder?.remove()
})

describe("ether on an account", () => {
  it("shows, counts, is not traded, and is withdrawn by the owner's signature", async () => {
    const account = privateKeyToAccount(generatePrivateKey())
    const owner: Owner = {
      ownerAccountId: `eip155:0:${account.address}`,
      sign: (raw) => account.signMessage({ message: { raw } }),
      signTypedData: (typedData) => account.signTypedData(typedData)
    }
    const { accounts, portfolioId } = await enroll(world, { strategyId: await createStrategy(world), owner })
    await fund(world, accounts, 10_000n)
    // Before the account is deployed.
    const given = await world.control("/faucet", { accountId: accounts[0], assetId: coin, amountRaw: `${2n * ether}` })
    assert.strictEqual(given.status, 200, JSON.stringify(given.body))
    const rows = async () => {
      const { body } = await world.api("GET", `/v2/portfolios/${portfolioId}/positions`)
      return body.data.assets as ReadonlyArray<{ readonly assetId: string; readonly balanceRaw: string }>
    }
    const held = async () => (await rows()).find(({ assetId }) => assetId === coin)?.balanceRaw
    await eventually("the ether shows", async () => (await held()) === `${2n * ether}` || undefined)

    const traded = await finishedOperation(world, portfolioId, await rebalance(world, portfolioId))
    assert.strictEqual(traded.state, "completed", JSON.stringify(traded))
    assert.strictEqual(await held(), `${2n * ether}`)

    const recipient = privateKeyToAccount(generatePrivateKey()).address
    const ballast = connect({ baseUrl: world.overview.apiBaseUrl, apiKey: world.key })
    const { operationId } = await withdraw(ballast, account, {
      portfolioId,
      recipientAccountId: `eip155:8453:${recipient}`,
      assets: [{ assetId: coin, amountRaw: `${ether}` }]
    })
    await world.control("/faults", { target: "api", mode: "kill" })
    const paid = await finishedOperation(world, portfolioId, operationId)
    assert.strictEqual(paid.state, "completed", JSON.stringify(paid))
    const { rpcUrl } = world.overview.chains.find(({ chainId }) => chainId === 8453)!
    const chain = createPublicClient({ transport: http(rpcUrl) })
    assert.strictEqual(await chain.getBalance({ address: recipient }), ether)
    assert.strictEqual(await chain.getBalance({ address: accounts[0]!.split(":")[2] as Hex }), ether)
    const [transfer] = paid.result.chains.find(({ chainId }: { chainId: number }) => chainId === 8453).transfers
    assert.deepInclude(transfer, { sell: coin, buy: coin, sentRaw: `${ether}`, receivedRaw: `${ether}` })
    await eventually("what is left shows", async () => (await held()) === `${ether}` || undefined)
  })
})
