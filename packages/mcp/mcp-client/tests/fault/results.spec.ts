import { describeFaults } from './table.ts'

describeFaults('results')
