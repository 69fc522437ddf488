export interface ChainsConfig {
  readonly x: string
}
export const chainsScenario = (_name: string, _config: ChainsConfig): never => {
  throw new Error("no")
}
