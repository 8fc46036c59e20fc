import { describeFaults } from './table.ts'

describeFaults('eras', 'modern')
