import { describeFaults } from './table.ts'

describeFaults('rpc')
