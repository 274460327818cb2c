"""What any dataset repository consists of (clips, tables, cards, the build report); knows no benchmark."""
